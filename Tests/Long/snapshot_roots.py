"""Both roots of a snapshot, computed by another SQLite and another SHA-256 than Larder's, as docs/snapshot-format.md says.

    snapshot_roots.py FILE            by Python's own sqlite3
    snapshot_roots.py --apsw FILE     by apsw, where it is installed
"""
import hashlib
import struct
import sys

HEAD = struct.Struct(">B16s32s32sII")
REQUEST_FIELD, STATUS, RESPONSE_FIELD, TRAILER, RESPONSE_BODY, FAILURE, EARLY_HINTS = 3, 6, 8, 9, 10, 11, 15
VOLATILE = """age alt-svc cache-status cf-ray date expires nel report-to server-timing set-cookie via x-amz-request-id
x-amzn-requestid x-amzn-trace-id x-cache x-cache-hits x-correlation-id x-github-request-id x-request-id x-runtime x-served-by
x-timer x-trace-id""".split()


def sha256(*pieces):
    return hashlib.sha256(b"".join(pieces)).digest()


def merkle(name, leaves):
    level = leaves
    while True:
        level = [sha256(b"\x01", *level[start:start + 256]) for start in range(0, len(level), 256)]
        if len(level) == 1:
            return sha256(name, b"\0", struct.pack(">Q", len(leaves)), level[0])


def parts(row):
    place = HEAD.size
    while place < len(row):
        tag, count = struct.unpack_from(">BI", row, place)
        yield tag, row[place + 5:place + 5 + count]
        place += 5 + count


def content_line(line):
    name, _, text = line.partition(b":")
    name = name.lower()
    return name + b":" + (b"" if name.decode() in VOLATILE else text)


def content_form(row):
    _, _, key, _, _, position = HEAD.unpack_from(row)
    found = list(parts(row))
    form = key + struct.pack(">I", position)
    for tag, value in found:
        if tag == STATUS:
            form += bytes([tag]) + value
    for wanted in (RESPONSE_FIELD, TRAILER):
        for line in sorted(content_line(value) for tag, value in found if tag == wanted):
            form += struct.pack(">BI", wanted, len(line)) + line
    for tag, value in found:
        if tag == RESPONSE_BODY:
            form += bytes([tag]) + value[:40]
        if tag == FAILURE:
            form += bytes([tag]) + value[:1]
        if tag == EARLY_HINTS:
            hints = [[]]
            for line in value.split(b"\n")[:-1]:
                if line:
                    hints[-1].append(content_line(line))
                else:
                    hints.append([])
            for hint in hints[:-1]:
                text = b"".join(line + b"\n" for line in sorted(hint))
                form += struct.pack(">BI", tag, len(text)) + text
    return form


def roots(rows, manifest):
    rows = sorted(rows)
    full = merkle(b"larder-snapshot-full", [sha256(b"\0", manifest)] + [sha256(b"\0", row) for row in rows])
    newest = {}
    for row in rows:
        _, _, key, _, generation, _ = HEAD.unpack_from(row)
        newest[key] = max(newest.get(key, 0), generation)
    forms = sorted(content_form(row) for row in rows if HEAD.unpack_from(row)[4] == newest[HEAD.unpack_from(row)[2]])
    content = merkle(b"larder-snapshot-content", [sha256(b"\0", form) for form in forms] or [sha256(b"\0")])
    return content, full


def main():
    path = sys.argv[-1]
    if "--apsw" in sys.argv:
        import apsw
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        query = lambda sql: list(connection.cursor().execute(sql))
    else:
        import sqlite3
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        query = lambda sql: list(connection.execute(sql))
    rows = [bytes(row) for (row,) in query("SELECT row FROM recording")]
    manifest = bytes(query("SELECT text FROM manifest")[0][0])
    content, full = roots(rows, manifest)
    print("content", content.hex())
    print("full", full.hex())


main()
