"""Reads a page: its console blocks, the comments that steer them, its headings and links. Compares output with what a block shows."""

import re
import subprocess
from dataclasses import dataclass, field

FENCE = re.compile(r"^(?P<indent>\s*)(?P<fence>```+|~~~+)\s*(?P<language>[\w-]*)")
COMMENT = re.compile(r"^\s*<!--\s*(?P<kind>not run|larder|setup|hosts|needs)\s*:\s*(?P<value>.*?)\s*-->\s*$")
#: What differs in each run: a page shows one value, and any other matches it.
VOLATILE = [(re.compile(pattern), text) for pattern, text in [
    (r"\b20\d\d-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?", "…"), (r"(?i)^(\W*)(Date|Expires): .*", r"\1\2: …"), (r"(?i)^(\W*)(Age): \d+", r"\1\2: …"),
    (r"\bttl=-?\d+", "ttl=…"), (r"\blarder-[0-9a-f]{1,8}\b", "larder-…"), (r'"instance":"[0-9a-f]{1,16}"', '"instance":"…"'),
    (r'"id":"[0-9a-f]{1,16}"', '"id":"…"'), (r'"client":"127.0.0.1:\d+"', '"client":"…"'), (r'"bytes":\d+', '"bytes":…'),
    (r'"duration_ms":[\d.]+', '"duration_ms":…'),
    (r"[\d.]+ (?:[KMG]i)?B saved of [\d.]+ (?:[KMG]i)?B", "… saved of …"),
    (r"\bage(:?) \d+ s\b", r"age\1 … s"), (r"\b\d+ s when the response was received, plus \d+ s since then", "… s when the response was received, plus … s since then"),
    (r" +\d+[smhd](?=  \S)", " …"), (r"[\d.]+ [KMGT]iB (of room|free)", r"… \1"), (r"\bin \d+ days\b", "in … days"), (r"\b\w+@\w+( [0-9a-f]{8})?\b", "…@…"), (r"\banother \d+ s\b", "another … s"), (r"\bprocess \d+", "process …"), (r"\bsha256/[A-Za-z0-9+/]{43}=", "sha256/…"),
    (r"\b[0-9A-F]{2}(:[0-9A-F]{2}){31}\b", "…"), (r"\b\d+(\.\d+)? (ms|µs)\b", r"… \2"),
]]


@dataclass
class Command:
    line: int
    text: str
    expected: list = field(default_factory=list)
    #: The line of the page on which its output begins.
    output: int = 0

    @property
    def is_background(self):
        return self.text.rstrip().endswith("&") and not self.text.rstrip().endswith("&&")


@dataclass
class Block:
    line: int
    commands: list
    setup: list
    not_run: str = ""
    needs: list = field(default_factory=list)


@dataclass
class Page:
    path: str
    blocks: list
    #: Arguments of the page's Larder; `None` if the page starts it.
    larder: str | None
    hosts: list


class PageError(Exception):
    """A page that breaks the rules of the harness."""


def read_page(path, text):
    blocks, setup, needs, hosts = [], [], [], []
    larder, not_run = "", None
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if comment := COMMENT.match(line):
            kind, value = comment["kind"], comment["value"]
            if kind == "setup":
                setup.append(Command(number, value))
            elif kind == "needs":
                needs += value.split()
            elif kind == "hosts":
                hosts += value.split()
            elif kind == "larder":
                larder = None if value == "none" else value
            else:
                not_run = (number, value)
            continue
        if fence := FENCE.match(line):
            block_line, content = number, []
            for number, line in lines:
                if line.strip().startswith(fence["fence"]) and not line.strip().strip(fence["fence"][0]):
                    break
                content.append((number, line.removeprefix(fence["indent"])))
            else:
                raise PageError(f"{path}:{block_line}: this block has no end")
            if fence["language"] == "console":
                blocks.append(Block(block_line, read_commands(path, content), setup, not_run[1] if not_run else "", needs))
                setup, needs = [], []
            elif not_run:
                raise PageError(f"{path}:{not_run[0]}: `not run` belongs above a console block")
            not_run = None
        elif line.strip() and not_run:
            raise PageError(f"{path}:{not_run[0]}: `not run` stands on the line above its block")
    return Page(path, blocks, larder, hosts)


def read_commands(path, lines):
    """`$ command` starts a command. The lines after it belong to it until it is complete, with `> ` in front or without."""
    commands, rest = [], list(lines)
    while rest:
        number, line = rest.pop(0)
        if line.startswith("$ "):
            text = line[2:]
            while rest and not is_complete(text):
                text += "\n" + rest.pop(0)[1].removeprefix("> ")
            commands.append(Command(number, text, output=number + text.count("\n") + 1))
        elif commands:
            commands[-1].expected.append(line.rstrip())
        elif line.strip():
            raise PageError(f"{path}:{number}: a console block begins with `$ command`")
    for command in commands:
        while command.expected and not command.expected[-1]:
            command.expected.pop()
    return commands


def is_complete(text):
    if text.endswith("\\"):
        return False
    if not re.search(r"<<|['\"({]|\b(do|then|else|in)\b", text):
        return True
    checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    return "end of file" not in checked.stderr and "end-of-file" not in checked.stderr and "looking for matching" not in checked.stderr


def matches(expected, lines):
    """Whether these lines are those of the block. A line `...` stands for any lines, and `…` in a line for any text."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            for volatile, text in VOLATILE:
                line = volatile.sub(text, line)
            pattern += "[^\n]*?".join(re.escape(part) for part in line.split("…")) + "\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in lines)) is not None


def may_match(expected, lines):
    """Whether lines that follow these complete lines can make them those of the block. A program that writes on takes nothing back."""
    for place, line in enumerate(lines):
        if place == len(expected):
            return False
        if expected[place].strip() == "...":
            return True
        if not matches([expected[place]], [line]):
            return False
    return True
