"""Checks the harness itself: a comparison that lets everything pass would go unseen otherwise."""

import tempfile
from pathlib import Path

from Docs.links import anchors, links
from Docs.pages import PageError, matches, may_match, read_page

PAGE = """# A page

<!-- larder: --set loops=2 -->
<!-- setup: touch one -->
<!-- setup: touch two -->
```console
$ cat <<END
> two words
> END
two words
$ printf 'a
b'
a
b

$ echo \\
> last
last
```

<!-- not run: root -->
```console
$ larder ca install
```
"""

#: Expected lines, lines that came, whether they match.
MATCHES = [
    ([], [], True), ([], ["a"], False), (["a"], [], False), (["a"], ["a"], True), (["a"], ["ab"], False), (["a."], ["ab"], False),
    (["a", "...", "z"], ["a", "z"], True), (["a", "...", "z"], ["a", "b", "c", "z"], True), (["a", "...", "z"], ["a", "b"], False),
    (["..."], [], True), (["…"], ["a"], True), (["…"], [], False), (["…"], ["a", "b"], False), (["a … c"], ["a b c"], True),
    (["Age: 2", "day 2026-11-24"], ["Age: 31", "day 2027-01-02"], True), (["Age 2"], ["Age 3"], False),
    (["a … c"], ["a b d"], False), (["a", "..."], ["b"], False), (["...", "z"], ["z", "y"], False),
]

#: Expected lines, lines that came so far, whether those that follow can make them match.
MAY_MATCH = [
    ([], [], True), ([], ["a"], False), (["a", "b"], [], True), (["a", "b"], ["a"], True), (["a", "b"], ["a", "b"], True),
    (["a", "b"], ["b"], False), (["a", "b"], ["a", "c"], False), (["a", "b"], ["a", "b", "c"], False), (["a …", "b"], ["a 1"], True),
    (["a", "...", "z"], ["a", "b", "c"], True), (["a", "...", "z"], ["b"], False),
]
#: A command in the background whose output is another one: this is what fails, and the rest of the page runs.
BACKGROUND = """<!-- larder: none -->
```console
$ (echo other; sleep 600) &
one
$ echo two
2
```
"""


def check_harness():
    faults = [f"Tests/Docs: matches({expected}, {lines}) is not {wanted}" for expected, lines, wanted in MATCHES
              if matches(expected, lines) != wanted]
    faults += [f"Tests/Docs: may_match({expected}, {lines}) is not {wanted}" for expected, lines, wanted in MAY_MATCH
               if may_match(expected, lines) != wanted]
    page = read_page("page", PAGE)
    read = [[(command.line, command.text, command.expected) for command in block.commands] for block in page.blocks]
    wanted = [[(7, "cat <<END\ntwo words\nEND", ["two words"]), (11, "printf 'a\nb'", ["a", "b"]), (16, "echo \\\nlast", ["last"])],
              [(23, "larder ca install", [])]]
    if read != wanted:
        faults.append(f"Tests/Docs: the page was read as {read}")
    if page.larder != "--set loops=2" or [one.text for one in page.blocks[0].setup] != ["touch one", "touch two"]:
        faults.append("Tests/Docs: the comments of the page were read wrongly")
    if [block.not_run for block in page.blocks] != ["", "root"]:
        faults.append("Tests/Docs: `not run` was read wrongly")
    for text in ("```console\noutput\n```\n", "```console\n$ true\n", "<!-- not run: root -->\ntext\n"):
        try:
            read_page("page", text)
            faults.append(f"Tests/Docs: this page is not refused: {text!r}")
        except PageError:
            pass
    if anchors("# A `b` c, d\n## [E](f.md)\n## E\n```\n# no\n```\n") != {"a-b-c-d", "e", "e-1"}:
        faults.append("Tests/Docs: headings are named wrongly")
    if list(links("[a](b.md#c) `[d](e)`\n![f](g.png)\n")) != [(1, "b.md#c"), (2, "g.png")]:
        faults.append("Tests/Docs: links are found wrongly")
    return faults


def check_runs(run):
    """As above, with a page that `run` runs."""
    with tempfile.NamedTemporaryFile("w", suffix=".md") as page:
        page.write(BACKGROUND)
        page.flush()
        result = run(Path(page.name))
    said = [(line, lines) for line, _, _, lines in result["failures"]]
    return [] if said == [(3, ["other"]), (5, ["two"])] else [f"Tests/Docs: a command in the background failed with {said}"]
