import sys
from dataclasses import replace
from pathlib import Path

import pytest

from party.records.run_file import RunReport
from party.show.runs import write_figures
from protocols.errors import InputError
from tests.party.records.test_run_file import FAST, OF_PLAIN, REPORT, ROW, SMC

FULL = replace(
    REPORT,
    rows=(
        replace(OF_PLAIN, accuracy=0.85),
        replace(SMC, method="randomized", accuracy=0.6, cost_ratio=0.0),
        replace(ROW, omega=None, accuracy=0.85, cost_ratio=1.0),
        ROW,
        replace(SMC, seconds=123.4),
        replace(FAST, cost_ratio=0.37),
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
    shown = ("tic-tac-toe", "plain ID3", "randomized only", "Dot products by Paillier", ">42<", ">12<", "5.6", "all")
    of_smc = ("SMC only", ">100<", "123")
    fast = ("Oblivious transfer", ">37<", "1.5")
    for words in (*shown, *of_smc, *fast):
        assert f"{words}" in text
    _, without = draw(tmp_path, replace(FULL, rows=tuple(row for row in FULL.rows if row.method != "smc")))
    assert not any(f">{words}<" in without.decode() for words in ("SMC only", "123"))


def test_equal_reports_give_equal_files_without_a_date(tmp_path: Path) -> None:
    first = draw(tmp_path, FULL)
    assert draw(tmp_path, FULL) == first
    assert b"<dc:date>" not in first[1]
    assert draw(tmp_path, replace(FULL, rows=FULL.rows[:-1])) != first


@pytest.mark.parametrize("rows", [(), (replace(ROW, accuracy=None),), (SMC,)])
def test_a_report_with_little_in_it_is_drawn_too(tmp_path: Path, rows: tuple[object, ...]) -> None:
    _, svg = draw(tmp_path, replace(REPORT, rows=rows))  # type: ignore[arg-type]
    assert b"no records were held out" in svg


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '\.\[figures\]'"):
        draw(tmp_path, FULL)
    assert not list(tmp_path.iterdir())
