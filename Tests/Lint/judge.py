"""What httplint and http-sfv say to a response, less what is said of the origin's own words and of what was asked."""

import email
import email.utils
import time

import http_sfv
import httplint
from httplint import levels

# Notes that find no fault with what Larder generates. An error says what its status says:
OF_STATUS = {"STATUS_BAD_REQUEST", "STATUS_URI_TOO_LONG", "STATUS_VERSION_NOT_SUPPORTED"}
# The origin leaves lifetimes out on purpose:
OF_ORIGIN = {"FRESHNESS_HEURISTIC"}
# A 2xx to CONNECT is one bare line: Date is for origin servers (RFC 9110 §6.6.1).
OF_CONNECT = {"DATE_CLOCKLESS"}

# Several parts have a Content-Range each, and none stands in the head (RFC 9110 §15.3.7.2).
OF_PARTS = {"PARTIAL_WITHOUT_RANGE"}
# What the client sends, or not, is passed on as it is.
OF_CLIENT = {"MISSING_USER_AGENT", "REQUEST_CONTENT_NOT_DEFINED"}


def is_excused(name, method, fields):
    if method == "CONNECT" and name in OF_CONNECT:
        return True
    if name == "DATE_INCORRECT" and is_age_told(fields):
        return True
    if b"proxy-status" in fields:
        return name in OF_STATUS
    return name in OF_ORIGIN or (is_multipart(fields) and name in OF_PARTS)


def is_age_told(fields):
    """A Date is judged as it is read, before the Age behind it, which says how far it lies back (RFC 9111 §5.1)."""
    if b"date" not in fields or not fields.get(b"age", b"").isdigit():
        return False
    date = email.utils.parsedate_to_datetime(fields[b"date"].decode()).timestamp()
    return abs(time.time() - date - int(fields[b"age"])) <= 10


def is_multipart(fields):
    return fields.get(b"content-type", b"").startswith(b"multipart/byteranges")


def read_request(line, fields, content=b""):
    request = httplint.HttpRequestLinter()
    request.process_request_topline(*line.split(b" "))
    request.process_headers(fields)
    request.feed_content(content)
    request.finish_content(True)
    return request


def faults(notes, is_excused):
    return [f"{type(note).__name__} ({note.subject}): {note.summary}"
            for note in notes if note.level in (levels.BAD, levels.WARN) and not is_excused(type(note).__name__)]


def lint_request(message):
    """The faults of a request that Larder has sent on."""
    return faults(read_request(*message).notes, lambda name: name in OF_CLIENT)


def lint(request, response, excused=""):
    """The faults of a response to a request, each as start line, fields and content, but for a note that is excused."""
    asked = read_request(*request)
    line, fields, content = response
    method = asked.method
    version, status, phrase = (line.split(b" ", 2) + [b""])[:3]
    linter = httplint.HttpResponseLinter(start_time=time.time(), no_content=method == "HEAD")
    linter.request, linter.base_uri, linter.is_head_response = asked, asked.iri, method == "HEAD"
    linter.process_response_topline(version.removeprefix(b"HTTP/"), status, phrase)
    linter.process_headers(fields)
    linter.feed_content(content)
    linter.finish_content(True)
    known = {name.lower(): value for name, value in fields}
    found = faults(linter.notes, lambda name: name == excused or is_excused(name, method, known))
    return found + (lint_parts(known, content) if is_multipart(known) else [])


def lint_parts(fields, content):
    """What is wrong with the parts of a multipart/byteranges."""
    parts = email.message_from_bytes(b"Content-Type: " + fields[b"content-type"] + b"\r\n\r\n" + content)
    if not parts.is_multipart() or parts.defects:
        return [f"multipart that cannot be read: {parts.defects}"]
    return ["a part without Content-Range" for part in parts.get_payload() if "Content-Range" not in part]


def parse_status_fields(fields):
    """Cache-Status and Proxy-Status of a response, parsed: the faults."""
    faults = []
    for wanted in (b"cache-status", b"proxy-status"):
        lines = [value for name, value in fields if name.lower() == wanted]
        if lines:
            faults += parse(b", ".join(lines))
    return faults


def parse(value):
    """The faults of a list of members, each a name with parameters."""
    members = http_sfv.List()
    try:
        members.parse(value)
    except ValueError as error:
        return [f"{value.decode()}: {error}"]
    return [f"{value.decode()}: {member} is no token or string"
            for member in members if not isinstance(member.value, (str, http_sfv.Token))]
