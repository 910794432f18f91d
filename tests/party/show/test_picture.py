import sys
from dataclasses import replace
from pathlib import Path

import pytest

from party.records.run_file import RunReport
from party.show.picture import write_figures
from protocols.errors import InputError
from tests.party.records.test_run_file import DERIVED, REPORT, ROW

FULL = replace(
    REPORT,
    rows=(
        replace(DERIVED, method="plain", derived=False, accuracy=0.85, cost_ratio=None),
        replace(DERIVED, method="randomized", derived=False, accuracy=0.6, cost_ratio=0.0),
        replace(ROW, omega=None, accuracy=0.85, cost_ratio=1.0),
        ROW,
        DERIVED,
    ),
)


def draw(folder: Path, report: RunReport) -> tuple[bytes, bytes]:
    png, svg = folder / "figure.png", folder / "figure.svg"
    write_figures(report, png, svg)
    return png.read_bytes(), svg.read_bytes()


def test_the_figure_is_a_png_and_an_svg_that_name_what_they_show(tmp_path: Path) -> None:
    png, svg = draw(tmp_path, FULL)
    assert png.startswith(b"\x89PNG")
    text = svg.decode()
    for shown in ("tic-tac-toe", "plain ID3", "randomized only", "hybrid", "SMC only (derived)", "0.750", "42%", "all"):
        assert shown in text


def test_equal_reports_give_equal_files_without_a_date(tmp_path: Path) -> None:
    first = draw(tmp_path, FULL)
    assert draw(tmp_path, FULL) == first
    assert b"<dc:date>" not in first[1]
    assert draw(tmp_path, replace(FULL, rows=FULL.rows[:-1])) != first


@pytest.mark.parametrize("rows", [(), (replace(ROW, accuracy=None),), (DERIVED,)])
def test_a_report_with_little_in_it_is_drawn_too(tmp_path: Path, rows: tuple[object, ...]) -> None:
    _, svg = draw(tmp_path, replace(REPORT, rows=rows))  # type: ignore[arg-type]
    assert b"no records were held out" in svg


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'cotally\[figures\]'"):
        draw(tmp_path, FULL)
    assert not list(tmp_path.iterdir())
