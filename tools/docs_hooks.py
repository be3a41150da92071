"""Hooks of MkDocs: links that leave the folder docs/ work as they do where the repository is shown, and there are tabs.

A page may link to a file of the repository, as in `../bench/results/bench-2026-11-22.md`. Such a file becomes a part of
the site, below `repository/`: a page when it is Markdown, else a file as it is. A link to a folder leads to a list of
its files. A link to nothing stays as it is, and fails the build.

The search knows the pages of docs/ only, and the reference comes first. The name of an error is a link to its cause.

Blocks between `<!-- tabs -->` and `<!-- /tabs -->` are shown as tabs, one for each language, with what follows its
blocks. Where the repository is shown, they are one below the other.
"""

from __future__ import annotations

import posixpath
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File, Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PREFIX = "repository"

_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_TABS = re.compile(r"^<!-- tabs -->\n(.*?)^<!-- /tabs -->$", re.MULTILINE | re.DOTALL)
_TAB = re.compile(r"^(?:<!-- (?!tabs)[^>]*-->\n)?```(sql|python|sh|console)\b", re.MULTILINE)
_ERROR = re.compile(r"(?<![\[/\w])`(ZORDER_[A-Z0-9_]+)`(?!\])")
_ERRORS = "reference/errors.md"
_TITLES = {"sql": "SQL", "python": "Python", "sh": "Command line", "console": "Command line"}


def in_repository(page: str) -> str:
    """Where a page of the site is in the repository."""
    return page.removeprefix(f"{PREFIX}/") if page.startswith(f"{PREFIX}/") else f"docs/{page}"


def in_site(path: str) -> str | None:
    """Where a file or folder of the repository is in the site; None for nothing."""
    if path.startswith("../") or not (ROOT / path).exists():
        return None
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"{PREFIX}/{path}" + ("/index.md" if (ROOT / path).is_dir() else "")


def targets(page: str, text: str) -> set[str]:
    """What a page links to outside of docs/, as paths in the repository."""
    here = posixpath.dirname(in_repository(page))
    found = {posixpath.normpath(posixpath.join(here, m[2])) for m in _LINK.finditer(_FENCE.sub("", text))}
    return {path for path in found if not path.startswith("docs/") and in_site(path)}


def listing(folder: str) -> str:
    """A page that lists the files of a folder."""
    names = sorted(path.name for path in (ROOT / folder).iterdir() if path.is_file())
    return "\n".join([f"# {folder}", "", *(f"- [{name}]({name})" for name in names), ""])


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the files of the repository that the navigation or a page names, and those that these link to."""
    from mkdocs.structure.files import File, InclusionLevel

    seen: set[str] = set()
    waiting = {path for file in files.documentation_pages() for path in targets(file.src_uri, file.content_string)}
    named = set(re.findall(rf"'{PREFIX}/([^']+)'", str(config.nav)))
    waiting |= {path for path in named if in_site(path)}
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        uri = in_site(path)
        assert uri is not None
        if (ROOT / path).is_dir():
            content = listing(path)
            added: File = File.generated(config, uri, content=content)
        else:
            added = File.generated(config, uri, abs_src_path=str(ROOT / path))
            content = (ROOT / path).read_text(encoding="utf-8") if path.endswith(".md") else ""
        if path not in named:
            added.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(added)
        waiting |= targets(uri, content) - seen
    return files


def in_tabs(blocks: re.Match[str]) -> str:
    """The blocks of a pair of comments as tabs."""
    text = blocks[1]
    found = [*_TAB.finditer(text)]
    starts = [tab for before, tab in zip([None, *found], found, strict=False) if not before or before[1] != tab[1]]
    ends = [start.start() for start in starts[1:]] + [len(text)]
    tabs = []
    for start, end in zip(starts, ends, strict=True):
        content = textwrap.indent(text[start.start() : end].strip("\n"), "    ")
        tabs.append(f'=== "{_TITLES[start[1]]}"\n\n{content}\n')
    return "\n".join(tabs)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links between files of the repository into links between pages of the site, and blocks into tabs."""
    uri = page.file.src_uri
    if uri.startswith(f"{PREFIX}/"):
        page.meta["search"] = {"exclude": True}
    elif uri.startswith("reference/"):
        page.meta["search"] = {"boost": 4}
    elif uri.startswith("statements/"):
        page.meta["search"] = {"boost": 2}
    here = posixpath.dirname(in_repository(uri))

    def turned(link: re.Match[str]) -> str:
        if ":" in link[2] or link[2].startswith("/"):
            return link[0]
        target = in_site(posixpath.normpath(posixpath.join(here, link[2])))
        if target is None or files.get_file_from_path(target) is None:
            return link[0]
        return link[1] + posixpath.relpath(target, posixpath.dirname(uri) or ".") + link[3]

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)

    def explained(text: str) -> str:
        if uri == _ERRORS or uri.startswith(f"{PREFIX}/"):
            return text
        page = posixpath.relpath(_ERRORS, posixpath.dirname(uri) or ".")
        lines = text.split("\n")
        return "\n".join(
            line if line.startswith("#") else _ERROR.sub(lambda m: f"[`{m[1]}`]({page}#{m[1].lower()})", line)
            for line in lines
        )

    linked = "".join(part if part.startswith("```") else explained(_LINK.sub(turned, part)) for part in parts)
    return _TABS.sub(in_tabs, linked)
