"""Reading and binning a CSV file, in processor time beside what pandas takes to read it, in one run.

python scripts/benchmarks/reading.py [--rows 200000]
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from _lab import make_parser, publish

from party.data import ColumnTreatment, read_frame, read_share

SEED = 1
PEOPLE = ("a", "b", "c", "d")


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    rows = 2_000 if arguments.quick else 200_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_table(path, rows)
        parquet = path.with_suffix(".parquet")
        pd.read_csv(path).to_parquet(parquet)
        of_pandas = seconds(lambda: pd.read_csv(path))
        took = {
            "CSV, pandas": of_pandas,
            "CSV": seconds(lambda: read_frame(path)),
            "CSV, binned": seconds(lambda: share(path)),
            "Parquet, binned": seconds(lambda: share(parquet)),
            "CSV without pyarrow, binned": seconds(lambda: without_pyarrow(lambda: share(path))),
        }
    publish(
        [{"read": what, "rows": rows, "seconds": s, "of_pandas": s / of_pandas} for what, s in took.items()],
        arguments.out,
    )


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
