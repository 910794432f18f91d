"""Reading and binning a CSV file, in processor time beside what pandas takes to read it, in one run.

python scripts/benchmarks/reading.py [--rows 200000]
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

from party.data import ColumnTreatment, read_frame, read_share

SEED = 1
PEOPLE = ("a", "b", "c", "d")


def main() -> None:
    """Print a line per way of reading."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_table(path, rows)
        parquet = path.with_suffix(".parquet")
        pd.read_csv(path).to_parquet(parquet)
        of_pandas = seconds(lambda: pd.read_csv(path))
        print(f"{rows:,} x 20: pandas reads the CSV in {of_pandas:.2f} s of processor time")
        for name, run in (
            ("CSV, read", lambda: read_frame(path)),
            ("CSV, read and binned", lambda: share(path)),
            ("Parquet, read and binned", lambda: share(parquet)),
            ("CSV without pyarrow, read and binned", lambda: without_pyarrow(lambda: share(path))),
        ):
            print(f"{name}: {(took := seconds(run)):.2f} s; (time - 1 s)/pandas {(took - 1) / of_pandas:.1f}")


def write_table(path: Path, rows: int) -> None:
    """Write ids, ten columns of measurements, five of whole numbers, five of categories."""
    rng = np.random.default_rng(SEED)
    columns: dict[str, object] = {f"m{i}": rng.normal(50, 20, rows).round(4) for i in range(10)}
    columns |= {f"n{i}": rng.integers(0, 10**5, rows) for i in range(5)}
    columns |= {f"c{i}": rng.choice(PEOPLE, rows) for i in range(5)}
    pd.DataFrame({"id": [f"p{i}" for i in range(rows)], **columns}).to_csv(path, index=False)


def share(path: Path) -> object:
    """Read and bin, as `train` does."""
    return read_share(path, "alice", "id", None, {"*": ColumnTreatment(max_values=4)})


def without_pyarrow(run: Callable[[], object]) -> object:
    """Read by the reader that reads every file."""
    with patch("party.data.csv_file.read_plain", lambda *_: None):
        return run()


def seconds(run: Callable[[], object]) -> float:
    """Return the least processor time of three runs."""
    took = []
    for _ in range(3):
        begin = time.process_time()
        run()
        took.append(time.process_time() - begin)
    return min(took)


if __name__ == "__main__":
    main()
