"""Tables of two columns in the ledger: what was opened, and what is not opened again."""

from dataclasses import dataclass

import numpy as np

from party.records.ledger import PeerEntries
from party.records.ledger_entries import CrosstabEntry, NamedColumn
from party.records.run_entries import KnownAnswers, column_name
from protocols.role import Fact, Save
from protocols.two_party.crosstab import Crossed


@dataclass(frozen=True, repr=False)
class CrosstabEntries:
    """The entries of one table."""

    pages: PeerEntries
    agreed: Crossed

    def note(self, fact: Fact) -> None:
        """Note, durably, that the table is about to be opened."""
        del fact
        self.pages.write(self._entry(None))

    def save(self, item: Save) -> None:
        """Keep the table as long as the ledger."""
        self.pages.write(self._entry(tuple(int(cell) for cell in np.frombuffer(item.content).tolist())))

    def recalled(self) -> KnownAnswers:
        """Return the table if it was opened before; the peer may fill in what we have lost."""
        said = [each for each in self.pages.noted(CrosstabEntry, self.agreed.local.dataset) if each.counts is not None]
        known = [each.counts for each in said if each.question == self.agreed.question]
        return KnownAnswers([np.array(each, np.float64).tobytes() for each in known[:1]], (b"",))

    def _entry(self, counts: tuple[int, ...] | None) -> CrosstabEntry:
        local, (first, second) = self.agreed.local, self.agreed.schema.columns
        columns = (NamedColumn.of(column_name(first), first), NamedColumn.of(column_name(second), second))
        noise = self.agreed.terms.noise
        return CrosstabEntry(local.dataset, self.agreed.question, columns, len(local.records), noise, counts)
