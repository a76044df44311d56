"""Checks the links of the documentation: files that are there, headings that are there, and pages that an index reaches."""

import os
import re
from pathlib import Path

from Docs.pages import FENCE

LINK = re.compile(r"(?<!\\)!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s*(\S+)|(?:href|src)=\"([^\"]+)\"", re.M)
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")


def prose(text):
    """The text without blocks of code, line for line."""
    lines, fence = [], None
    for line in text.splitlines():
        opened = FENCE.match(line)
        if fence:
            fence = None if line.strip().startswith(fence) and not line.strip().strip(fence[0]) else fence
            line = ""
        elif opened:
            fence, line = opened["fence"], ""
        lines.append(line)
    return lines


def anchors(text):
    """The names by which GitHub finds headings."""
    seen, found = {}, set()
    for line in prose(text):
        if heading := HEADING.match(line):
            shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[2])
            name = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
            count = seen.get(name, 0)
            seen[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
        found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
    return found


def links(text):
    """Line and target of each link."""
    for number, line in enumerate(prose(text), 1):
        for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            yield number, next(filter(None, match.groups()))


def check_links(root, pages):
    """A line for each link that leads nowhere."""
    faults, known = [], {}
    for page in pages:
        text = (root / page).read_text()
        for number, target in links(text):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            path, _, anchor = target.partition("#")
            file = Path(os.path.normpath(root / page.parent / path)) if path else root / page
            if not file.exists():
                faults.append(f"{page}:{number}: no such file: {target}")
            elif anchor and file.suffix == ".md":
                if file not in known:
                    known[file] = anchors(file.read_text())
                if anchor not in known[file]:
                    faults.append(f"{page}:{number}: no such heading: {target}")
    return faults


def check_index(root, index):
    """A line for each page below the index's folder that no links lead to from the index."""
    reached, waiting = set(), [index]
    while waiting:
        page = waiting.pop()
        if page in reached or not (root / page).is_file():
            continue
        reached.add(page)
        for _, target in links((root / page).read_text()):
            path = target.partition("#")[0]
            if path.endswith(".md") and ":" not in path:
                waiting.append(Path(os.path.normpath(page.parent / path)))
    return [f"{page}: no link leads to it from {index}"
            for page in sorted(path.relative_to(root) for path in (root / index.parent).rglob("*.md")) if page not in reached]
