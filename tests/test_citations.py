"""Every citation of the design, the faults and the papers leads to a place that exists."""

import re
from pathlib import Path

import pytest

_TOP = Path(__file__).parent.parent
_SOURCES = sorted(
    path
    for folder in ("protocols", "party", "scripts", "tests", "proto", ".github")
    for path in (_TOP / folder).rglob("*")
    if path.suffix in {".py", ".proto", ".md"} and "v1" not in path.parts[:-1] and path != Path(__file__)
)
_DESIGN = re.compile(r"DESIGN(?:\s+section)?\s+(\d+(?:\.\d+)?(?:(?:,|\s+and|\s+to)\s+\d+(?:\.\d+)?)*)")
_FAULTS = re.compile(r"FAULTS\s+((?:(?:,|and|to|cases?|[A-C]?\d+[a-c]?)[\s,-]*)+)")
_PAPER = re.compile(
    r"\b(Du-Zhan 2003|Multi-group|Hybrid|Surveys|Review|Goethals 2004),? "
    r"(?:(?:sections?|equations?|figures?|tables?|algorithms?) )?(\d)"
)


def _design_headings() -> set[str]:
    text = (_TOP / "protocols" / "DESIGN.md").read_text(encoding="utf-8")
    return set(re.findall(r"^#{2,3} (\d+(?:\.\d+)?)[. ]", text, re.MULTILINE))


def _faults() -> set[str]:
    text = (_TOP / "party" / "FAULTS.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-C]?\d+) \|", text, re.MULTILINE)
    return {*rows, *re.findall(r"^### (\d[a-c])\.", text, re.MULTILINE)}


def _papers() -> set[str]:
    text = (_TOP / "protocols" / "PAPERS.md").read_text(encoding="utf-8")
    return set(re.findall(r"^### (.+)$", text, re.MULTILINE))


def _cited(pattern: re.Pattern[str], item: str) -> dict[str, list[str]]:
    """Return what each file cites, where it cites anything."""
    found = {}
    for path in _SOURCES:
        items = [
            cited for match in pattern.findall(path.read_text(encoding="utf-8")) for cited in re.findall(item, match)
        ]
        if items:
            found[str(path.relative_to(_TOP))] = items
    return found


@pytest.mark.parametrize(
    ("pattern", "item", "headings", "at_least"),
    [
        pytest.param(_DESIGN, r"\d+(?:\.\d+)?", _design_headings(), 60, id="DESIGN"),
        pytest.param(_FAULTS, r"[A-C]?\d+[a-c]?", _faults(), 50, id="FAULTS"),
    ],
)
def test_every_section_and_every_fault_that_is_cited_exists(
    pattern: re.Pattern[str], item: str, headings: set[str], at_least: int
) -> None:
    cited = _cited(pattern, item)
    missing = {path: [name for name in names if name not in headings] for path, names in cited.items()}
    assert {path: names for path, names in missing.items() if names} == {}
    assert sum(map(len, cited.values())) >= at_least  # or this test looks past them


def test_every_paper_that_is_cited_stands_on_the_page_of_papers() -> None:
    papers = _papers()
    cited = {name for path in _SOURCES for name, _ in _PAPER.findall(path.read_text(encoding="utf-8"))}
    assert cited <= papers
    assert {"Hybrid", "Surveys", "Multi-group"} <= cited


def test_the_headings_of_the_design_are_numbered_without_a_gap() -> None:
    chapters = sorted(int(name) for name in _design_headings() if "." not in name)
    assert chapters == list(range(1, len(chapters) + 1))


_PAGES = sorted(path for path in _TOP.rglob("*.md") if not {".venv", "demo-run"} & set(path.relative_to(_TOP).parts))
_QUOTED = re.compile(r"(?<!`)`([\w./]+)`(?!`)")
_OURS = ("party", "protocols", "scripts", "tests", "proto")


def _leads_somewhere(name: str, page: Path) -> bool:
    """Return whether a name in back-ticks is no path or module of ours, or one that exists."""
    head, _, rest = name.partition(".")
    if "/" in name or name.endswith(".py"):
        if "/" in name and name.split("/", maxsplit=1)[0] not in _OURS:
            return not name.endswith(".py") or any(path.match(name) for path in _FILES)
        return (_TOP / name).exists() or (page.parent / name).exists() or any(path.name == name for path in _FILES)
    if head not in _OURS or not rest or rest in {"toml", "md"}:
        return True
    module = _TOP / name.replace(".", "/")
    return any((each.with_suffix(".py").exists() or each.is_dir()) for each in (module, module.parent))


_FILES = [path for folder in _OURS for path in (_TOP / folder).rglob("*.py")]


def test_every_file_and_module_that_a_page_quotes_exists() -> None:
    quoted = {path: _QUOTED.findall(path.read_text(encoding="utf-8")) for path in _PAGES}
    lost = {
        str(page.relative_to(_TOP)): [n for n in names if not _leads_somewhere(n, page)]
        for page, names in quoted.items()
    }
    assert {page: names for page, names in lost.items() if names} == {}
    assert sum(name.endswith(".py") for names in quoted.values() for name in names) > 80  # or this test looks past them


def test_every_test_that_a_page_names_is_there() -> None:
    defined = "".join(path.read_text(encoding="utf-8") for path in (_TOP / "tests").rglob("test_*.py"))
    named = {name for page in _PAGES for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))}
    assert len(named) > 80
    assert {name for name in named if f"def {name}(" not in defined and f"{name}.py" not in defined} == set()
