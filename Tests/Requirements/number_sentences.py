#!/usr/bin/env python3
"""Number every sentence with a word of RFC 2119 in the RFCs about caching, and keep docs/requirements.tsv complete.

    number_sentences.py TEXTS            write sentences.tsv, and add a row "to come" for each sentence without a row
    number_sentences.py TEXTS --check    change nothing; fail if sentences.tsv differs from the texts
    number_sentences.py TEXTS --print    print the numbered sentences in full; change nothing

TEXTS is a folder with the published RFCs as plain text: rfc9111.txt and so on. A number is the RFC, the section and a count
within the section (9111-4.2.4-2). The items of a list that a numbered sentence introduces carry its number and a letter
(9111-3-1a). The sentences stay in the RFCs. sentences.tsv has the number, the words, the beginning of the sentence, and a digest
of it that shows whether a text has changed. The digest does not depend on white space or on the form of quotation marks.
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
RFCS = ["9111", "5861", "8246", "9211", "9213"]

WORDS = re.compile(r"\b(?:MUST|SHALL|SHOULD)(?: NOT)?\b|\bMAY\b|\bREQUIRED\b|\b(?:NOT )?RECOMMENDED\b|\bOPTIONAL\b")
# The section that explains the words requires nothing.
NOTATION = re.compile(r"Notation|Notational")
HEADING = re.compile(r"(\d+(?:\.\d+)*)\. (\S.*)")
UNNUMBERED = re.compile(r"(?:Appendix [A-Z]\.|Acknowledge?ments|Index|Authors?'s? Address)")
ITEM = re.compile(r"( *)([•□☆○*]|\d+\.) +(.*)")
# The end of a sentence. The next sentence begins with a capital letter or a quotation mark.
END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.!?]\)?[\"”]?\s+(?=[A-Z\"“])")
BEGINNING = 9
QUOTES = str.maketrans("“”‘’", "\"\"''")


class Sentence:
    """A numbered sentence."""

    def __init__(self, identifier, rfc, section, words, text):
        self.identifier, self.rfc, self.section, self.words, self.text = identifier, rfc, section, words, text

    def row(self):
        shown = self.text.split(" ")
        beginning = " ".join(shown[:BEGINNING]) + (" …" if len(shown) > BEGINNING else "")
        bare = "".join(self.text.translate(QUOTES).split())
        digest = hashlib.sha256(bare.encode()).hexdigest()[:12]
        return "\t".join([self.identifier, ", ".join(self.words), beginning, digest])


def blocks(lines):
    """Yields (section, title, depth, text): paragraphs with depth None, items of lists with their indentation."""
    section = title = block = None
    for line in lines + [""]:
        heading = HEADING.fullmatch(line)
        item = ITEM.match(line)
        if block and (heading or item or not line.strip()):
            yield section, title, *block
            block = None
        if heading:
            section, title = heading.groups()
        elif UNNUMBERED.match(line):
            section = None
        elif item:
            block = len(item.group(1)), item.group(3).strip()
        elif line.strip():
            block = (block[0], block[1] + " " + line.strip()) if block else (None, line.strip())


def split(text):
    """The sentences of a paragraph."""
    ends = [match.end() for match in END.finditer(text)]
    return [text[start:end].strip() for start, end in zip([0] + ends, ends + [len(text)])]


def numbered(rfc, lines):
    """The sentences of one RFC, in its order."""
    found, count, lead, letters = [], {}, None, None
    for section, title, depth, text in blocks(lines):
        if not section or NOTATION.search(title):
            continue
        if lead and depth is not None:
            if lead_depth is None:
                lead_depth = depth
            if depth > lead_depth:  # an item within an item belongs to it
                found[-1].text += " " + text
            else:
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
            if depth is None and text.endswith(sentence) and introduces_list(sentence):
                lead, letters, lead_depth = found[-1], iter(string.ascii_lowercase), None
    return found


def introduces_list(sentence):
    return sentence.endswith(":")


def sentences(texts):
    return [
        sentence for rfc in RFCS for sentence in numbered(rfc, (texts / f"rfc{rfc}.txt").read_text("utf-8").splitlines())
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
        sys.exit(0 if SENTENCES.read_text("utf-8") == text else f"{SENTENCES} differs from the texts in {chosen.texts}; run {sys.argv[0]} {chosen.texts}")
    SENTENCES.write_text(text, "utf-8")
    complete(found)


if __name__ == "__main__":
    main()
