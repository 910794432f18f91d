"""Builds one searchable site from the Markdown of the repository, and fails where a link or an outside load is in it.

Pages are staged by their paths, so that a link leads where it leads on a page of the repository; the folder `.github`,
which web servers often hide, is `guide` there. The page of settings is stored beside the others; that of commands is
made for the site alone.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import reference

ROOT = Path(__file__).parents[2]
SETTINGS = ROOT / ".github" / "docs" / "settings.md"
_LINK = re.compile(r"(\]\()([^)\s#:]+)([)#])")
_WHOLE = re.compile(r"\[([^\]]+)\]\(([^)\s#:]+)\)")
_LIST = re.compile(r"^((?!\* |\d+\. |[ |#>`-])\S.*\n)(?=\* |1\. )", re.MULTILINE)
_LOAD = re.compile(
    r"""<(?:link|script|img|iframe|source|object|embed)\b[^>]*?\b(?:href|src|data)=["']?(?:https?:)?//[^\s"'>]+"""
    r"""|(?:url\(|@import)\s*["']?(?:https?:)?//[^\s"')]+"""
)


def stage(pages: Path) -> None:
    """Copy every page and whatever one links to into a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.md", ":!party/show"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wanted = [ROOT / name for name in listed.stdout.split("\0") if name]
    for path in wanted:
        text = path.read_text(encoding="utf-8")
        here = path.parent
        text = _WHOLE.sub(lambda m: m[1] if (here / m[2]).is_dir() else m[0], text)  # noqa: B023  # used at once
        linked = (Path(os.path.normpath(path.parent / target)) for _, target, _ in _LINK.findall(text))
        text = _LINK.sub(lambda m: m[1] + m[2].replace(".github/", "guide/") + m[3], text)
        _write(pages, path, _LIST.sub(r"\1\n", text))  # a list after a line of text is one on GitHub, not here
        for file in linked:
            if file.suffix != ".md" and file.is_file():
                _place(pages, file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, _place(pages, file))
    _write(pages, SETTINGS.with_name("commands.md"), reference.commands())


def _place(pages: Path, path: Path) -> Path:
    parts = ("guide" if part == ".github" else part for part in path.relative_to(ROOT).parts)
    return pages.joinpath(*parts)


def _write(pages: Path, path: Path, text: str) -> None:
    place = _place(pages, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def outside(site: Path) -> list[str]:
    """Return what pages and styles of a site load from elsewhere."""
    files = (path for path in site.rglob("*") if path.suffix in {".html", ".css", ".svg"})
    return [f"{path.relative_to(site)}: {load}" for path in files for load in _LOAD.findall(path.read_text("utf-8"))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/docs", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "site", help="the site's folder")
    parser.add_argument("--settings", action="store_true", help="write the page of settings alone")
    arguments = parser.parse_args()
    SETTINGS.write_text(reference.settings(), encoding="utf-8")
    if arguments.settings:
        return
    with tempfile.TemporaryDirectory() as folder:
        stage(Path(folder))
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(arguments.output)]
        command += ["--config-file", str(Path(__file__).with_name("mkdocs.yml"))]
        made = subprocess.run(command, env={**os.environ, "PAGES": folder, "NO_MKDOCS_2_WARNING": "1"}, check=False)
    if made.returncode:
        sys.exit(made.returncode)
    loads = outside(arguments.output)
    if loads:
        sys.exit("loaded from elsewhere:\n" + "\n".join(loads))
    print(f"Built {arguments.output}; to read and search it: python -m http.server -d {arguments.output}")


if __name__ == "__main__":
    main()
