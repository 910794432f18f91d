"""What is open for as long as a `with` block lasts, however that ends."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A context that closes itself at its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held."""
