"""Reads the literals and comments of the Swift files in Sources that are not generated, and the sentences of the documentation."""

import pathlib
import re
import sys

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("error", "help", "setting", "log", "doc", "comment")
FOR_USERS = KINDS[:4]

# Literals that no user reads: the messages of traps, patterns, symbols of libraries, SQL.
FOR_MAINTAINERS = re.compile(
    r"\b(precondition|preconditionFailure|assert|assertionFailure|fatalError|Regex|dlsym|execute|query|prepare)"
    r"\s*\((?:[^()]|\([^()]*\))*$"
)
SQL = re.compile(
    r"^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|PRAGMA|BEGIN|COMMIT|ROLLBACK|ATTACH|DETACH|VACUUM|REPLACE|WITH|FROM|WHERE|"
    r"ALTER|AND|ORDER|SAVEPOINT|RELEASE|ON CONFLICT|id, )"
)
# Lines of protocols, and files for other programs.
PROTOCOL = re.compile(
    r"\r\n|^(Larder; |; |multipart/|text/|HTTP/1|SQLite format|Basic |GET |<[?!/a-zA-Z]|\s+<)|<key>|^(use_proxy|no_proxy) =|Acquire::"
)
# Commands and settings that a text gives to be pasted, and lists of words.
NO_PROSE = re.compile(
    r"^(sudo|mv|eval|export|set -gx|--build-arg|git config|pip config|npm config|curl --\w+|puts|import|my|public class|fetch\() "
    r"|^(POST|GET) /|^default-src |^ *(scheme|path|tunnel|not|\w+_(body|in|out)): |^(([a-z0-9-]+|[A-Z]{1,2}|\.) ){40}"
)
HELP = re.compile(r"(\b(help|abstract|discussion)\s*:\s*|\bArgumentHelp\s*\([^()]*)\(?\s*$")
LOG = re.compile(r"\b(log(ger)?\.\w+|warn|warnings\.append)\((?:[^;{}()]|\([^()]*\))*$")


class Literal:
    """A string literal: its text with interpolations as {…}, its source, its place and the code before it."""

    def __init__(self, path, line, text, raw, before):
        self.path, self.line, self.text, self.raw, self.before = path, line, text, raw, before


# Swift files that scripts/page-files.py writes from the files of the page: their texts are those of the page.
GENERATED = "Sources/ProxyAdmin/Page/Embedded/"


def sources():
    for file in sorted((ROOT / "Sources").rglob("*.swift")):
        path = str(file.relative_to(ROOT))
        if not path.startswith(GENERATED):
            yield path, file.read_text()


def read(path, source):
    """The literals of a file, and its comments as pairs of a line and a text."""
    literals, comments, code = [], [], []
    position, line = 0, 1
    while position < len(source):
        if source.startswith("//", position):
            end = source.find("\n", position)
            end = len(source) if end < 0 else end
            comments.append((line, source[position:end]))
        elif source.startswith("/*", position):
            end = source.find("*/", position)
            end = len(source) if end < 0 else end + 2
            comments.append((line, source[position:end]))
        elif source[position] == '"' or re.match(r'#+"', source[position:position + 6]):
            text, end = read_literal(source, position)
            literals.append(Literal(path, line, text, source[position:end], "".join(code)[-400:]))
            code.append('""')
        else:
            end = position + 1
            code.append(source[position])
            if len(code) > 2000:
                code = ["".join(code)[-600:]]
        line += source.count("\n", position, end)
        position = end
    return literals, comments


def read_literal(source, start):
    """The text of the literal at `start`, and where it ends."""
    position = start
    while source[position] == "#":
        position += 1
    hashes = source[start:position]
    is_long = source.startswith('"""', position)
    quote = '"""' if is_long else '"'
    position += len(quote)
    ending, escape = quote + hashes, "\\" + hashes
    parts = []
    while position < len(source) and not source.startswith(ending, position):
        if source.startswith(escape + "(", position):
            begin = position = position + len(escape) + 1
            depth = 1
            while depth and position < len(source):
                if source[position] == '"':
                    _, position = read_literal(source, position)
                    continue
                depth += {"(": 1, ")": -1}.get(source[position], 0)
                position += 1
            parts.append("{" + " ".join(source[begin:position - 1].split()) + "}")
        elif source.startswith(escape, position) and not hashes:
            if is_long and source[position + 1] == "\n":
                position += 2
                while source[position] in " \t":
                    position += 1
            else:
                parts.append({"n": "\n", "t": "\t", "r": "\r", "0": "\0"}.get(source[position + 1], source[position + 1]))
                position += 2
        else:
            parts.append(source[position])
            position += 1
    text = "".join(parts)
    if is_long:
        lines = text.strip("\n").split("\n")
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        text = "\n".join(line[indent:] for line in lines).rstrip()
    return text, position + len(ending)


def is_sentence(text):
    """Whether it has at least two words, apart from interpolations."""
    words = re.findall(r"[A-Za-z][a-z'’]+", re.sub(r"\{[^}]*\}", " ", text))
    return len(words) >= 2 and " " in text.strip()


def kind(literal):
    if HELP.search(literal.before):
        return "help"
    if literal.path.endswith(("/SettingsSchema.swift", "/SettingsDocumentation.swift")) or "/ValueForm" in literal.path:
        return "setting"
    return "log" if LOG.search(literal.before[-160:]) else "error"


def texts_for_users():
    """Each text that a user reads: its kind, path, line and text. Literals that + joins are one text."""
    for path, source in sources():
        pending = None
        for literal in read(path, source)[0]:
            if pending is not None and re.search(r'""\s*\+\s*$', literal.before):
                pending.text += literal.text
                continue
            if pending is not None and is_for_users(pending):
                yield kind(pending), path, pending.line, pending.text
            pending = literal
        if pending is not None and is_for_users(pending):
            yield kind(pending), path, pending.line, pending.text


def is_for_users(literal):
    return (
        is_sentence(literal.text) and not SQL.match(literal.text) and not PROTOCOL.search(literal.text)
        and not NO_PROSE.search(literal.text)
        and not FOR_MAINTAINERS.search(literal.before[-300:])
    )


def comments():
    """Each comment of Sources as one text: its kind, path, line and text."""
    for path, source in sources():
        block, start, last = [], 0, -1
        for line, text in read(path, source)[1]:
            if line != last + 1 and block:
                yield "comment", path, start, " ".join(block)
                block = []
            if not block:
                start = line
            block.append(re.sub(r"^(///?|/\*+)\s?", "", text).rstrip("*/ ").strip())
            last = line + text.count("\n")
        if block:
            yield "comment", path, start, " ".join(block)


def passages():
    """Each sentence, list item and table row of the documentation, outside code and HTML comments: its kind, path, line and text."""
    for file in [ROOT / "README.md", ROOT / "CHANGELOG.md"] + sorted((ROOT / "docs").rglob("*.md")):
        path, is_code, is_comment, block, start = str(file.relative_to(ROOT)), False, False, [], 0
        for number, line in enumerate(file.read_text().split("\n") + [""], 1):
            stripped = line.strip()
            is_comment = is_comment or (not is_code and stripped.startswith("<!--"))
            begins = not stripped or is_comment or re.match(r"([-*|#>]|\d+\.)\s?|```", stripped)
            if begins and block:
                for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[])", " ".join(block)):
                    if is_sentence(sentence):
                        yield "doc", path, start, sentence
                block = []
            if is_comment:
                is_comment = "-->" not in stripped
            elif stripped.startswith("```"):
                is_code = not is_code
            elif stripped and not is_code and not re.fullmatch(r"[|:\- ]+", stripped):
                if not block:
                    start = number
                block.append(stripped)


def texts(kinds):
    if set(kinds) & set(FOR_USERS):
        yield from (text for text in texts_for_users() if text[0] in kinds)
    if "doc" in kinds:
        yield from passages()
    if "comment" in kinds:
        yield from comments()
