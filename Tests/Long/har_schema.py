"""Holds a text to HAR 1.2: which members each object must and may have, of which types, and what the specification says of their values.

    har_schema.py FILE...    names what is wrong, and ends with 1 then
"""
import json
import re
import sys

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def number(value):
    return None if type(value) in (int, float) else "no number"


def text(value):
    return None if type(value) is str else "no string"


def truth(value):
    return None if type(value) is bool else "neither true nor false"


def moment(value):
    return None if type(value) is str and MOMENT.fullmatch(value) else "no time of ISO 8601"


def duration(value):
    """What did not happen is -1."""
    return number(value) or (None if value >= 0 or value == -1 else "less than nothing")


def elapsed(value):
    return number(value) or (None if value >= 0 else "less than nothing")


def count(value):
    return None if type(value) is int and value >= -1 else "no count"


# A member whose name ends with ? may be missing; the name of an object in brackets stands for an array of them.
OBJECTS = {
    "file": {"log": "log"},
    "log": {"version": text, "creator": "creator", "browser?": "creator", "pages?": ["page"], "entries": ["entry"], "comment?": text},
    "creator": {"name": text, "version": text, "comment?": text},
    "page": {"startedDateTime": moment, "id": text, "title": text, "pageTimings": "page timings", "comment?": text},
    "page timings": {"onContentLoad?": duration, "onLoad?": duration, "comment?": text},
    "entry": {"pageref?": text, "startedDateTime": moment, "time": elapsed, "request": "request", "response": "response", "cache": "cache",
              "timings": "timings", "serverIPAddress?": text, "connection?": text, "comment?": text},
    "request": {"method": text, "url": text, "httpVersion": text, "cookies": ["cookie"], "headers": ["pair"], "queryString": ["pair"],
                "postData?": "posted", "headersSize": count, "bodySize": count, "comment?": text},
    "response": {"status": count, "statusText": text, "httpVersion": text, "cookies": ["cookie"], "headers": ["pair"], "content": "content",
                 "redirectURL": text, "headersSize": count, "bodySize": count, "comment?": text},
    "cookie": {"name": text, "value": text, "path?": text, "domain?": text, "expires?": moment, "httpOnly?": truth, "secure?": truth, "comment?": text},
    "pair": {"name": text, "value": text, "comment?": text},
    "posted": {"mimeType": text, "params": ["parameter"], "text": text, "comment?": text},
    "parameter": {"name": text, "value?": text, "fileName?": text, "contentType?": text, "comment?": text},
    "content": {"size": count, "compression?": count, "mimeType": text, "text?": text, "encoding?": text, "comment?": text},
    "cache": {"beforeRequest?": "cached", "afterRequest?": "cached", "comment?": text},
    "cached": {"expires?": moment, "lastAccess": moment, "eTag": text, "hitCount": count, "comment?": text},
    "timings": {"blocked?": duration, "dns?": duration, "connect?": duration, "send": elapsed, "wait": elapsed, "receive": elapsed, "ssl?": duration,
                "comment?": text},
}


def faults(value, kind="file", place=""):
    """What is wrong with it, each with where it stands."""
    if callable(kind):
        return [f"{place}: {fault}"] if (fault := kind(value)) else []
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{place}: no array"]
        return [fault for index, element in enumerate(value) for fault in faults(element, kind[0], f"{place}/{index}")]
    if not isinstance(value, dict):
        return [f"{place}: no object"]
    found, known = [], {name.rstrip("?"): (member, name.endswith("?")) for name, member in OBJECTS[kind].items()}
    found += [f"{place}: {name} is missing" for name, (_, may_be_missing) in known.items() if not may_be_missing and name not in value]
    for name, element in value.items():
        if name in known:
            found += faults(element, known[name][0], f"{place}/{name}")
        elif not name.startswith("_"):
            found.append(f"{place}: {name} is none of HAR's members")
    return found + SAID.get(kind, lambda *_: [])(value, place) if not found else found


def said_of_log(log, place):
    pages = {page["id"] for page in log.get("pages", [])}
    return ([] if log["version"] == "1.2" else [f"{place}: version {log['version']}"]) + [
        f"{place}/entries/{index}: there is no such page" for index, entry in enumerate(log["entries"]) if entry.get("pageref") not in {None, *pages}]


def said_of_entry(entry, place):
    """The time is the sum of the phases; TLS is a part of connecting."""
    total = sum(value for name, value in entry["timings"].items() if type(value) in (int, float) and value > 0 and name != "ssl" and name[0] != "_")
    return [] if abs(total - entry["time"]) < 0.01 else [f"{place}: its phases take {total} of {entry['time']}"]


def said_of_posted(posted, place):
    return [f"{place}: text and parameters exclude each other"] if posted["text"] and posted["params"] else []


SAID = {"log": said_of_log, "entry": said_of_entry, "posted": said_of_posted}


def main():
    found = [f"{file}: {fault}" for file in sys.argv[1:] for fault in faults(json.load(open(file, encoding="utf-8")))]
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
