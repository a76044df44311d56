#!/usr/bin/env python3
"""Numbers every sentence of the RFCs about caching that has a word of RFC 2119, and keeps docs/requirements.tsv complete.

    number_sentences.py TEXTS            write sentences.tsv, and a row "to come" for each sentence that has none
    number_sentences.py TEXTS --check    change nothing; fail if sentences.tsv is not what the texts give
    number_sentences.py TEXTS --print    write the numbered sentences in full, and change nothing

TEXTS is a folder with rfc9111.md and so on: Markdown whose headings begin with the section's number. A number is the RFC, the
section and a count within it (9111-4.2.4-2). The items of a list that a numbered sentence leads into carry its number and a
letter (9111-3-1a). The sentences themselves stay in the RFCs: kept are the number, the words, how the sentence begins, and a
digest of it, which tells whether a text has changed.
"""

import argparse
import hashlib
import pathlib
import re
import string
import sys

HERE = pathlib.Path(__file__).resolve().parent
SENTENCES = HERE / "sentences.tsv"
TABLE = HERE.parent.parent / "docs" / "requirements.tsv"

# The sections that are numbered; the first part of a section's number, or None for all.
SCOPE = {"9111": {"3", "4", "5"}, "5861": None, "8246": None, "9211": None, "9213": None}

WORDS = re.compile(r"\b(?:MUST|SHALL|SHOULD)(?: NOT)?\b|\bMAY\b|\bREQUIRED\b|\b(?:NOT )?RECOMMENDED\b|\bOPTIONAL\b")
NOTATION = re.compile(r"Notation|Notational")
HEADING = re.compile(r"#+ (\S+) (.*?)\s*(?:\{#.*\})?$")
ITEM = re.compile(r"(\s*)(?:-|\d+\.) +(.*)")
# The end of a sentence: not an abbreviation's, and what follows begins like a sentence.
END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.!?]\)?[\"”]?\s+(?=[A-Z\"“])")
BEGINNING = 9


class Sentence:
    """A numbered sentence."""

    def __init__(self, identifier, rfc, section, words, text):
        self.identifier, self.rfc, self.section, self.words, self.text = identifier, rfc, section, words, text

    def row(self):
        shown = self.text.split(" ")
        beginning = " ".join(shown[:BEGINNING]) + (" …" if len(shown) > BEGINNING else "")
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:12]
        return "\t".join([self.identifier, ", ".join(self.words), beginning, digest])


def blocks(lines):
    """Yields (section, title, depth, text): paragraphs with depth None, items of lists with their indentation."""
    section = title = None
    fenced = False
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
        if fenced or not line.strip() or line.startswith("```"):
            continue
        if line.startswith("#"):
            heading = HEADING.match(line)
            section, title = heading.group(1), heading.group(2)
            continue
        item = ITEM.match(line)
        if item:
            yield section, title, len(item.group(1)), item.group(2)
        else:
            yield section, title, None, line.strip().removeprefix("> ")


def split(text):
    """The sentences of a paragraph."""
    ends = [match.end() for match in END.finditer(text)]
    return [text[start:end].strip() for start, end in zip([0] + ends, ends + [len(text)])]


def numbered(rfc, lines):
    """The sentences of one RFC, in its order."""
    found, count, lead, letters = [], {}, None, None
    for section, title, depth, text in blocks(lines):
        wanted = section and section[0].isdigit() and not NOTATION.search(title)
        if not wanted or (SCOPE[rfc] and section.split(".")[0] not in SCOPE[rfc]):
            continue
        if lead and depth:  # an item within an item belongs to it
            found[-1].text += " " + text
            continue
        if lead and depth == 0:
            words = sorted(set(WORDS.findall(text))) or lead.words
            found.append(Sentence(lead.identifier + next(letters), rfc, section, words, text))
            continue
        lead = None
        for sentence in split(text):
            words = sorted(set(WORDS.findall(sentence)))
            if not words:
                continue
            count[section] = count.get(section, 0) + 1
            found.append(Sentence(f"{rfc}-{section}-{count[section]}", rfc, section, words, sentence))
            if depth is None and text.endswith((sentence,)) and leads_into_list(sentence):
                lead, letters = found[-1], iter(string.ascii_lowercase)
    return found


def leads_into_list(sentence):
    return sentence.endswith(":")


def sentences(texts):
    return [
        sentence for rfc in SCOPE for sentence in numbered(rfc, (texts / f"rfc{rfc}.md").read_text("utf-8").splitlines())
    ]


def complete(found):
    """Adds a row to the table for each sentence without one, and puts the table into the order of the RFCs."""
    head, *rows = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if line]
    present = {row[0] for row in rows}
    rows += [[s.identifier, s.rfc, s.section, s.row().split("\t")[2], "to come"] for s in found if s.identifier not in present]
    rows.sort(key=lambda row: order(row[0]))
    TABLE.write_text("".join("\t".join(row) + "\n" for row in [head] + rows), "utf-8")


def order(identifier):
    """9111-4.2.4-2 by its numbers; a letter follows its number, and a letter alone all numbers."""
    rfc, section, number = identifier.split("-")
    digits, letter = re.fullmatch(r"(\d*)([a-z]?)", number).groups()
    return int(rfc), [int(part) for part in section.split(".")], int(digits or sys.maxsize), letter


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("texts", type=pathlib.Path)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--print", action="store_true")
    chosen = arguments.parse_args()
    found = sentences(chosen.texts)
    if chosen.print:
        for sentence in found:
            print(f"{sentence.identifier}\t{sentence.text}")
        return
    text = "id\twords\tbeginning\tdigest\n" + "".join(sentence.row() + "\n" for sentence in found)
    if chosen.check:
        sys.exit(0 if SENTENCES.read_text("utf-8") == text else f"{SENTENCES.name} is not what the texts give")
    SENTENCES.write_text(text, "utf-8")
    complete(found)


if __name__ == "__main__":
    main()
