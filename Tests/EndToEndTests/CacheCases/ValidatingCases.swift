/// Conditions of clients and of Larder, and the changes that a 304 makes (RFC 9111 §3.2, §4.3).
enum ValidatingCases {
    static let all = clients + ours + ranges

    private static func asks(
        _ sentence: String, _ stored: [String], _ condition: [String], status: Int, _ present: [String] = []
    ) -> CacheCase {
        CacheCase(
            sentence,
            [
                .init(answer: .init(200, [fresh] + stored)),
                .init("GET", condition, answer: nil, .reused, status: status, present: present),
            ])
    }

    private static let clients: [CacheCase] = [
        asks("If-None-Match of what is stored", [tagged], ["If-None-Match: \"v1\""], status: 304, [tagged]),
        asks("… among others", [tagged], ["If-None-Match: \"a\", \"v1\" , \"b\""], status: 304),
        asks("… on a second line", [tagged], ["If-None-Match: \"a\"", "If-None-Match: \"v1\""], status: 304),
        asks("… of anything", [tagged], ["If-None-Match: *"], status: 304),
        asks("… compared weakly", ["ETag: W/\"v1\""], ["If-None-Match: \"v1\""], status: 304),
        asks("If-None-Match of something else", [tagged], ["If-None-Match: \"x\""], status: 200),
        asks(
            "If-None-Match before If-Modified-Since", [tagged, modified],
            ["If-None-Match: \"x\"", "If-Modified-Since: {0}"], status: 200),
        asks("If-Modified-Since after the change", [modified], ["If-Modified-Since: {-50000}"], status: 304),
        asks("If-Modified-Since before the change", [modified], ["If-Modified-Since: {-150000}"], status: 200),
        asks("If-Modified-Since compared with Date", [], ["If-Modified-Since: {100}"], status: 304),
        asks("Of two entity tags none is believed", [tagged, "ETag: \"v2\""], ["If-None-Match: \"v1\""], status: 200),
        asks("… in If-Range neither", [tagged, "ETag: \"v2\""], ["Range: bytes=0-1", "If-Range: \"v1\""], status: 200),
        asks("No date in If-Modified-Since", [modified], ["If-Modified-Since: foo"], status: 200),
        CacheCase(
            "If-Match is the origin's to judge",
            [
                .init(answer: .init(200, [fresh, tagged])),
                .init("GET", ["If-Match: \"x\""], answer: .init(412), .forwarded, status: 412),
            ]),
    ]

    private static let aged = "Cache-Control: max-age=1"

    private static let ours: [CacheCase] = [
        CacheCase(
            "A 304 makes it fresh again",
            [
                .init(answer: .init(200, [aged, "Age: 2", tagged])),
                .init(
                    "GET", answer: .init(200, [fresh, tagged]), .validated("If-None-Match"), status: 200, body: "step 0",
                    asks: ["If-None-Match: \"v1\""]),
                .init("GET", answer: nil, .reused, body: "step 0"),
            ]),
        CacheCase(
            "A 304 by date",
            [
                .init(answer: .init(200, [aged, "Age: 2", modified])),
                .init("GET", answer: .init(200, [fresh, modified]), .validated("If-Modified-Since"), body: "step 0"),
                .init("GET", answer: nil, .reused),
            ]),
        CacheCase(
            "Fields of a 304 take the place of those stored",
            [
                .init(answer: .init(200, [aged, "Age: 2", tagged, "X-A: 1", "Content-Type: text/plain"])),
                .init(
                    "GET", answer: .init(200, [fresh, tagged, "X-A: 2", "X-B: 3"]), .validated("If-None-Match"),
                    present: ["X-A: 2", "X-B: 3", "Content-Type: text/plain"]),
                .init("GET", answer: nil, .reused, present: ["X-A: 2", "X-B: 3", "Content-Type: text/plain"]),
            ]),
        CacheCase(
            "A 304's Content-Length says nothing",
            [
                .init(answer: .init(200, [aged, "Age: 2", tagged])),
                .init(
                    "GET", answer: .init(200, [fresh, tagged, "Content-Length: 99"]), .validated("If-None-Match"),
                    body: "step 0", present: ["Content-Length: 6"]),
            ]),
        CacheCase(
            "What changed takes the place of what was stored",
            [
                .init(answer: .init(200, [aged, "Age: 2", tagged])),
                .init("GET", answer: .init(200, [fresh, "ETag: \"v2\""]), .replaced("If-None-Match"), body: "step 1"),
                .init("GET", answer: nil, .reused, body: "step 1"),
            ]),
        CacheCase(
            "A 304 for another tag: asked again without a condition",
            [
                .init(answer: .init(200, [aged, "Age: 2", tagged])),
                .init("GET", answer: .init(304, ["ETag: \"v9\""]), .any, asks: ["If-None-Match: \"v1\""]),
            ]),
    ]

    private static let digits = "01234567890123456789"

    private static func part(_ sentence: String, _ fields: [String], status: Int, _ body: String, _ present: [String] = [])
        -> CacheCase
    {
        CacheCase(
            sentence,
            [
                .init(answer: .init(200, [fresh, tagged], body: digits)),
                .init("GET", fields, answer: nil, .reused, status: status, body: body, present: present),
            ])
    }

    private static let ranges: [CacheCase] = [
        part("A range of what is stored", ["Range: bytes=2-5"], status: 206, "2345", ["Content-Range: bytes 2-5/20"]),
        part("A suffix", ["Range: bytes=-4"], status: 206, "6789", ["Content-Range: bytes 16-19/20"]),
        part("From a place on", ["Range: bytes=15-"], status: 206, "56789", ["Content-Range: bytes 15-19/20"]),
        part("No range at all", ["Range: bytes=a-"], status: 200, digits),
        part("Another unit", ["Range: lines=1-2"], status: 200, digits),
        part("If-Range of another version", ["Range: bytes=0-1", "If-Range: \"no\""], status: 200, digits),
        part("If-Range of this version", ["Range: bytes=0-1", "If-Range: \"v1\""], status: 206, "01"),
        CacheCase(
            "A part answers no request for the whole",
            [
                .init(
                    "GET", ["Range: bytes=0-9"],
                    answer: .init(206, [fresh, tagged, "Content-Range: bytes 0-9/20"], body: "0123456789"), status: 206),
                .init(answer: .init(200, [fresh, tagged], body: digits), status: 200, body: digits),
            ]),
    ]
}
