"""What Larder is asked, so that it makes every kind of answer."""

from dataclasses import dataclass, field

TEXT = "Content-Type: text/plain; charset=utf-8"
FRESH = ["Cache-Control: max-age=600", TEXT]
STALE = ["Cache-Control: max-age=600", "Age: 1000", TEXT]
LATELY_STALE = ["Age: 605", TEXT]
TAG = 'ETag: "v1"'
MODIFIED = "Last-Modified: {-100000}"
BODY = b"A body that is long enough for parts of it to be asked for, from the beginning, the end, and between.\n" * 3


@dataclass
class Scenario:
    """Requests in a row for a URI of its own, each a list of field lines; a word without a colon is the method or the version.
    In field lines `{-100}` stands for the HTTP-date of so many seconds from now."""

    name: str
    fields: list
    requests: list = field(default_factory=lambda: [[], []])
    status: str = "200 OK"
    body: bytes = BODY
    # The rules for this scenario's path.
    rule: str = ""
    # What httplint says of the origin's own words.
    excused: str = ""
    # The origin ends the connection behind the body instead of telling its length.
    until_close: bool = False


def asked(*requests):
    """A first request without any fields, and these behind it."""
    return [[], *requests]


BY_PROTOCOL = [
    Scenario("miss and hit", [*FRESH, TAG, MODIFIED]),
    Scenario("hit for HEAD", [*FRESH, TAG], asked(["HEAD"])),
    Scenario("HEAD that is not stored", [*FRESH, TAG], [["HEAD"], []]),
    Scenario("HTTP/1.0", [*FRESH, TAG], [["HTTP/1.0"], ["HTTP/1.0"]]),
    Scenario("304 by tag", [*FRESH, TAG, MODIFIED], asked(['If-None-Match: "v1"'], ['If-None-Match: "a", W/"v1"'])),
    Scenario("304 by date", [*FRESH, MODIFIED], asked(["If-Modified-Since: {-5000}"])),
    Scenario("304 by Date alone", FRESH, asked(["If-Modified-Since: {100}"])),
    Scenario("304 with all that it may have", [*FRESH, TAG, "Vary: Accept-Encoding", "Expires: {600}", "Content-Location: /there"],
             asked(['If-None-Match: "v1"'])),
    Scenario("parts", [*FRESH, TAG, "Accept-Ranges: bytes"],
             asked(["Range: bytes=2-5"], ["Range: bytes=-4"], ["Range: bytes=7-"], ["Range: bytes=0-1", 'If-Range: "v1"'],
                   ["Range: bytes=0-1", 'If-Range: "other"'], ["Range: bytes=0-1, 5-6"], ["Range: bytes=0-1, 5-6, -7"],
                   ["Range: lines=1-2"], ["HEAD", "Range: bytes=0-1"])),
    Scenario("parts that are not there", [*FRESH, TAG], asked(["Range: bytes=5000-"], ["Range: bytes=-0"], ["Range: bytes=5000-, 6000-"])),
    Scenario("a part of what is not stored", [*FRESH, TAG], [["Range: bytes=2-5"], ["Range: bytes=2-5"], ["Range: bytes=4-9"], []]),
    Scenario("stale and freshened", [*STALE, TAG], asked([], ['If-None-Match: "v1"'])),
    Scenario("stale and freshened by date", [*STALE, MODIFIED]),
    Scenario("stale without a validator", STALE),
    Scenario("max-stale", [*STALE, TAG], asked(["Cache-Control: max-stale=500"], ["Cache-Control: max-stale"])),
    Scenario("stale-while-revalidate", ["Cache-Control: max-age=600, stale-while-revalidate=600", *LATELY_STALE, TAG], asked([], [])),
    Scenario("the client's directives", [*FRESH, TAG],
             asked(["Cache-Control: no-cache"], ["Cache-Control: max-age=0"], ["Cache-Control: min-fresh=9000"],
                   ["Cache-Control: no-store"], ["Cache-Control: only-if-cached"])),
    Scenario("only-if-cached of nothing", FRESH,
             [["Cache-Control: only-if-cached"], ["HEAD", "Cache-Control: only-if-cached"],
              ["Cache-Control: only-if-cached", "Accept: text/html"], ["Cache-Control: only-if-cached", "Accept: text/plain"]]),
    Scenario("variants", [*FRESH, "Vary: Accept-Language"], [["Accept-Language: de"], ["Accept-Language: en"], ["Accept-Language: de"]]),
    Scenario("Vary: *", [*FRESH, "Vary: *"], excused="VARY_ASTERISK"),
    Scenario("not stored: no-store", ["Cache-Control: no-store", TEXT]),
    Scenario("not stored: private", ["Cache-Control: private, max-age=600", TEXT]),
    Scenario("not stored: no lifetime", [TEXT]),
    Scenario("not stored: Set-Cookie", [TEXT, MODIFIED, "Set-Cookie: a=b; SameSite=Lax"]),
    Scenario("not stored: Authorization", FRESH, [["Authorization: Basic eDp5"]]),
    Scenario("not stored: input that is not in the key", FRESH, [["X-Forwarded-Host: elsewhere.example"]]),
    Scenario("not stored: the client's no-store", FRESH, [["Cache-Control: no-store"]]),
    Scenario("not stored: a GET with content", FRESH, [["Content-Length: 1"]]),
    Scenario("not stored: a 304 to the client's condition", [*FRESH, TAG], [['If-None-Match: "v1"']]),
    Scenario("not stored: a status that nobody understands", ["Cache-Control: max-age=600, must-understand", TEXT], status="299 Odd",
             excused="STATUS_NONSTANDARD"),
    Scenario("not stored: a status of one request alone", FRESH, status="412 Precondition Failed", excused="STATUS_412_WITHOUT_PRECONDITION"),
    Scenario("not stored: a status without a lifetime", [TEXT, MODIFIED, "Location: /elsewhere"], status="302 Found"),
    Scenario("not stored: a Vary that cannot be read", [*FRESH, "Vary: Accept;q=1"], excused="BAD_SYNTAX_DETAILED"),
    Scenario("no-cache", ["Cache-Control: no-cache", TEXT, TAG]),
    Scenario("must-revalidate", ["Cache-Control: max-age=600, must-revalidate", "Age: 1000", TEXT, TAG]),
    Scenario("proxy-revalidate", ["Cache-Control: max-age=600, proxy-revalidate", "Age: 1000", TEXT, TAG]),
    Scenario("s-maxage", ["Cache-Control: s-maxage=600", "Age: 1000", TEXT, TAG]),
    Scenario("immutable", ["Cache-Control: max-age=600, immutable", TEXT, TAG], asked(["Cache-Control: max-age=0"])),
    Scenario("a heuristic lifetime", [TEXT, MODIFIED]),
    Scenario("a redirect", ["Cache-Control: max-age=600", "Location: /elsewhere", TEXT], status="301 Moved Permanently"),
    Scenario("not found", FRESH, status="404 Not Found"),
    Scenario("no content", ["Cache-Control: max-age=600"], status="204 No Content"),
    Scenario("an empty body", FRESH, body=b""),
    Scenario("until the connection ends", FRESH, until_close=True),
    Scenario("what other caches said", [*FRESH, 'Cache-Status: "A CDN"; hit; ttl=100', "Cache-Status: Origin; fwd=uri-miss"]),
    Scenario("POST", [*FRESH, TAG], [["POST"], []]),
    Scenario("a method that nobody knows", [TEXT], [["BREW"]]),
    Scenario("If-Match", [*FRESH, TAG], asked(['If-Match: "v1"'])),
    Scenario("for redbot", [*FRESH, TAG, MODIFIED, "Accept-Ranges: bytes", "Vary: Accept-Encoding"], []),
]

BY_RULE = [
    Scenario("denied", FRESH, rule="deny: {reason: for a test}"),
    Scenario("a lifetime by rule", [TEXT], rule="cache: {ttl: 60s}"),
    Scenario("policy: reload", FRESH, rule="cache: {policy: reload}"),
    Scenario("policy: reload_all", FRESH, rule="cache: {policy: reload_all}"),
    Scenario("policy: revalidate", [*FRESH, TAG], rule="cache: {policy: revalidate}"),
    Scenario("policy: stored_only", FRESH, rule="cache: {policy: stored_only}"),
    Scenario("policy: stored_else_load", STALE, rule="cache: {policy: stored_else_load}"),
    Scenario("store: never", FRESH, rule="cache: {store: never}"),
    Scenario("a body too large to be stored", FRESH, rule="cache: {max_size: 2B}"),
    Scenario("no-store ignored by rule", ["Cache-Control: no-store", TEXT], rule="cache: {ignore: no-store, ttl: 60s, unsafe: true}"),
    Scenario("a lifetime against the origin's", [*STALE, TAG], rule="cache: {ttl: 1h, unsafe: true}"),
    Scenario("a lifetime for a status", [TEXT], status="503 Service Unavailable", rule="cache: {ttl: {5xx: 10s}}"),
    Scenario("no guessed lifetime", [TEXT, MODIFIED], rule="cache: {heuristic: false}"),
    Scenario("a key with a field", FRESH, [["X-Kind: a"], ["X-Kind: b"], ["X-Kind: a"]], rule="cache: {key: {fields: [X-Kind]}}"),
    Scenario("an answer to a question by POST", FRESH, [["POST", "Content-Length: 1"], ["POST", "Content-Length: 1"]],
             rule="cache: {unsafe: true, key: {body: [POST]}}"),
    Scenario("fields by rule", [*FRESH, TAG, "Server: x"], asked([], ['If-None-Match: "v1"'], ["Range: bytes=0-1"]),
             rule='response: {set: {X-Rule: "1"}, remove: Server}'),
    Scenario("a status that is not accepted", FRESH, rule="validate: {status: 201, on_failure: block}"),
    Scenario("a type that is not accepted", FRESH, rule="validate: {content_type: application/json, on_failure: block}"),
    Scenario("a note", FRESH, rule="validate: {status: 201, on_failure: annotate}"),
    Scenario("JSON that is none", ["Content-Type: application/json"], rule="validate: {wellformed: json, on_failure: block}"),
    Scenario("JSON", ["Content-Type: application/json", FRESH[0]], body=b"[1, 2, 3]", rule="validate: {wellformed: json, on_failure: block}"),
    Scenario("a coding that cannot be read", ["Content-Type: application/json", "Content-Encoding: compress"],
             rule="validate: {wellformed: json, on_failure: block}"),
    Scenario("a coding that does not decode", ["Content-Type: application/json", "Content-Encoding: gzip"],
             rule="validate: {wellformed: json, on_failure: block}"),
    Scenario("a body too large to be checked", ["Content-Type: application/json"],
             rule="validate: {wellformed: json, max_body: 2B, oversize: block, on_failure: block}"),
]


def errors(origin, closed, pseudonym):
    """Requests that end in an error of Larder's or that it answers itself: a name, and start line and fields."""
    at = f"http://127.0.0.1:{origin}"
    return [
        ("a target that is none", "GET ftp://127.0.0.1/ HTTP/1.1"),
        ("malformed", f"GET {at}/ HTTP/1.1", "Content-Length: x"),
        ("no request to a proxy", "GET / HTTP/1.1"),
        ("a line that is too long", f"GET {at}/{'x' * 20_000} HTTP/1.1"),
        ("fields that are too large", f"GET {at}/ HTTP/1.1", f"X: {'x' * 80_000}"),
        ("a body that is too large", f"POST {at}/ HTTP/1.1", "Content-Length: 9999"),
        ("a port that tunnels may not have", "CONNECT 127.0.0.1:22 HTTP/1.1"),
        ("a prohibited destination", "GET http://169.254.169.254/ HTTP/1.1"),
        ("an expectation", f"GET {at}/ HTTP/1.1", "Expect: more"),
        ("a transfer coding", f"POST {at}/ HTTP/1.1", "Transfer-Encoding: zip"),
        ("https in absolute form", "GET https://127.0.0.1/ HTTP/1.1"),
        ("a version", f"GET {at}/ HTTP/3.0"),
        ("a loop", f"GET {at}/ HTTP/1.1", f"Via: 1.1 {pseudonym}"),
        ("a name that is not found", "GET http://nowhere.onion/ HTTP/1.1"),
        ("a refused connection", f"GET http://127.0.0.1:{closed}/ HTTP/1.1"),
        ("a refused connection, HEAD", f"HEAD http://127.0.0.1:{closed}/ HTTP/1.1"),
        ("a tunnel that is refused", f"CONNECT 127.0.0.1:{closed} HTTP/1.1"),
        ("an origin that closes", f"POST {at}/closes HTTP/1.1", "Content-Length: 0"),
        ("an origin that talks nonsense", f"GET {at}/nonsense HTTP/1.1"),
        ("an answer with large fields", f"GET {at}/large HTTP/1.1"),
        ("an upgrade", f"GET {at}/upgrade HTTP/1.1"),
        ("an answer that does not come", f"GET {at}/late HTTP/1.1"),
        ("OPTIONS of the server", "OPTIONS * HTTP/1.1"),
        ("OPTIONS that ends here", f"OPTIONS {at}/ HTTP/1.1", "Max-Forwards: 0"),
        ("TRACE that ends here", f"TRACE {at}/ HTTP/1.1", "Max-Forwards: 0"),
        ("a tunnel", f"CONNECT 127.0.0.1:{origin} HTTP/1.1"),
    ]


# What the origin says to some of `errors`; `None` closes the connection.
ODD_ANSWERS = {
    "/closes": None,
    "/late": None,
    "/nonsense": b"nonsense\r\n\r\n",
    "/large": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 80_000 + b"\r\n\r\n",
    "/upgrade": b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
}


def settings(origin, closed):
    rules = [
        f"  - {{name: {number}, match: {{path: [/rule/{number}]}}, {scenario.rule}}}" for number, scenario in enumerate(BY_RULE)
    ]
    return "\n".join([f"tunnel: {{ports: [{origin}, {closed}]}}", "limits: {request_body: 1KiB}", "timeouts: {first_byte: 500ms}",
                      "rules:", *rules, ""])
