"""Checks the spelling of the documentation by aspell, with the words of words.txt besides its own, and by codespell."""

import re
import shutil
import subprocess
from pathlib import Path

from Docs.links import prose

WORDS = Path(__file__).with_name("words.txt")


def check_spelling(root, pages):
    """A line for each word that is not known. Code is not looked at, nor are words with digits or with capitals inside."""
    faults = [f"{program} is missing: scripts/setup.sh --test installs it" for program in ("aspell", "codespell") if not shutil.which(program)]
    if faults:
        return faults
    known = WORDS.read_text().split()
    if known != sorted({word.lower() for word in known}):
        faults.append(f"{WORDS.relative_to(root)}: the words are not in lower case and in order, each once")
    for page in pages:
        lines = prose((root / page).read_text())
        text = [strip(line) for line in lines]
        listed = subprocess.run(["aspell", "list", "--lang=en_US", "--encoding=utf-8", "--ignore=2"], input="\n".join(text), text=True,
                                capture_output=True, check=True).stdout.split()
        wrong = {word for word in listed if base(word).lower() not in known and not is_name(word)}
        for number, line in enumerate(text, 1):
            faults += [f"{page}:{number}: unknown word: {word}" for word in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", line) if word in wrong]
    found = subprocess.run(["codespell", "--builtin", "clear", "--ignore-words", WORDS, *pages], cwd=root, text=True, capture_output=True)
    return faults + [f"codespell: {line}" for line in found.stdout.splitlines()]


def base(word):
    return re.sub(r"'s?$", "", word)


def is_name(word):
    return any(letter.isupper() for letter in word[1:])


def strip(line):
    """A line without code, targets of links, tags, addresses and words with digits."""
    line = re.sub(r"<!--.*?-->", " ", line)
    line = re.sub(r"(`+).*?\1", " ", line)
    line = re.sub(r"\]\([^)]*\)", "]", line)
    line = re.sub(r"<[^>]*>|https?://\S+", " ", line)
    return re.sub(r"\S*(?:\d|[/@_~=]|\w\.\w)\S*", " ", line).replace("’", "'")
