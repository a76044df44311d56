/// Changes that a 304 and a HEAD make to a stored response, and the fields they keep (RFC 9111 §3.2, §4.3.3 to §4.3.5).
enum UpdatingCases {
    static let all = fields + identified + several + keptFrom + conditions + replaced + heads

    private static let aged = ["Cache-Control: max-age=1", "Age: 2"]

    /// A response that is stale on arrival, a validation whose 304 has these fields, and one more request.
    private static func validated(
        _ sentence: String, _ stored: [String] = [tagged], by update: [String], client: [String] = [],
        present: [String] = [], _ then: CacheCase.Step
    ) -> CacheCase {
        CacheCase(
            sentence,
            [
                .init(answer: .init(200, aged + stored)),
                .init(
                    "GET", client, answer: .init(200, update), .validated("If-None-Match"), status: 200, body: "step 0",
                    present: present),
                then,
            ])
    }

    private static func reused(present: [String] = [], absent: [String] = []) -> CacheCase.Step {
        .init(answer: nil, .reused, status: 200, body: "step 0", present: present, absent: absent)
    }

    private static let forwarded = CacheCase.Step(answer: .init(200, [fresh]), .forwarded, body: "step 2")

    private static let fields: [CacheCase] = [
        validated(
            "A cookie of a 304 goes to the client that asked, and to no other", by: [fresh, tagged, "Set-Cookie: a=b"],
            present: ["Set-Cookie: a=b"], reused(absent: ["Set-Cookie"])),
        validated(
            "A field that a 304's private names is not stored", [tagged, "X-Own: 1"],
            by: ["Cache-Control: max-age=3600, private=\"x-own\"", tagged, "X-Own: 2"], reused(absent: ["X-Own"])),
        validated(
            "A field that a 304's no-cache names is not stored", [tagged, "X-Own: 1"],
            by: ["Cache-Control: max-age=3600, no-cache=\"x-own\"", tagged, "X-Own: 2"], reused(absent: ["X-Own"])),
        validated(
            "Content-Range of a 304 says nothing", by: [fresh, tagged, "Content-Range: bytes 0-1/6"],
            reused(absent: ["Content-Range"])),
        validated(
            "What Connection names in a 304 is not stored", by: [fresh, tagged, "Connection: x-hop", "X-Hop: 1"],
            reused(absent: ["X-Hop"])),
        validated(
            "Proxy-Authenticate of a 304 is not stored", by: [fresh, tagged, "Proxy-Authenticate: Basic"],
            reused(absent: ["Proxy-Authenticate"])),
        validated(
            "All lines of a name are replaced together", [tagged, "X-A: 1", "X-A: 2", "X-B: 1"],
            by: [fresh, tagged, "x-a: 3"], reused(present: ["X-A: 3", "X-B: 1"])),
        validated(
            "Age of what is stored does not outlive a 304", by: ["Cache-Control: max-age=60", tagged],
            .init(answer: nil, .reused, body: "step 0", present: ["Age: 50"], after: 50)),
        validated(
            "Age of a 304 counts", by: ["Cache-Control: max-age=60", "Age: 50", tagged],
            .init(answer: .init(200, [fresh, tagged]), .validated("If-None-Match"), body: "step 0", after: 20)),
        validated(
            "A 304 may bring Vary", by: [fresh, tagged, "Vary: Foo"], client: ["Foo: 1"],
            .init("GET", ["Foo: 2"], answer: .init(200, [fresh, "Vary: Foo"]), .forwarded, body: "step 2")),
    ]

    private static let identified: [CacheCase] =
        [
            validated("A weak tag in a 304 identifies a strong one", by: [fresh, "ETag: W/\"v1\""], reused()),
            validated("A weak tag in a 304 identifies a weak one", ["ETag: W/\"v1\""], by: [fresh, "ETag: W/\"v1\""], reused()),
            validated("A 304 without a validator answers what was asked", by: [fresh], reused()),
            validated(
                "Of two validators in a 304 the strong one counts", [tagged, modified],
                by: [fresh, tagged, "Last-Modified: {-5000}"],
                reused()),
        ]
        + [
            ("a strong tag that is stored as weak", ["ETag: W/\"v1\""], "ETag: \"v1\""),
            ("another weak tag", ["ETag: W/\"v1\""], "ETag: W/\"v2\""),
            ("another strong tag", [tagged], "ETag: \"v2\""),
        ].map { name, stored, other in
            CacheCase(
                "A 304 for \(name) identifies nothing: asked again without a condition",
                [
                    .init(answer: .init(200, aged + stored)),
                    .init(answer: .init(200, [fresh, other]), .askedAgain("If-None-Match"), status: 200, body: "step 1"),
                    .init(answer: nil, .reused, body: "step 1", present: [other]),
                ])
        } + [
            CacheCase(
                "A 304 for another date identifies nothing",
                [
                    .init(answer: .init(200, aged + [modified])),
                    .init(
                        answer: .init(200, [fresh, "Last-Modified: {-5000}"]), .askedAgain("If-Modified-Since"), status: 200,
                        body: "step 1"),
                    .init(answer: nil, .reused, body: "step 1"),
                ])
        ]

    /// Two stale responses that both match the third request, and then a request that only the older one matches.
    private static func twoStale(
        _ sentence: String, tag: String, method: String = "GET", _ answer: CacheCase.Answer, _ outcome: CacheCase.Outcome,
        _ last: CacheCase.Outcome
    ) -> CacheCase {
        let (german, french) = ("Accept-Language: de", "Accept-Language: fr")
        return CacheCase(
            sentence,
            [
                .init("GET", [german], answer: .init(200, aged + [tag, "Vary: Accept-Language"])),
                .init("GET", [french, "Accept: a/a"], answer: .init(200, aged + [tag, "Vary: Accept"])),
                .init(method, [german, "Accept: a/a"], answer: answer, outcome),
                .init("GET", [german, "Accept: b/b"], answer: .init(200, [fresh, tag]), last),
            ])
    }

    private static let several: [CacheCase] = [
        twoStale(
            "A 304 freshens each with its strong validator", tag: tagged, .init(200, [fresh, tagged]),
            .validated("If-None-Match"), .reused),
        twoStale(
            "… and the most recent with its weak one", tag: "ETag: W/\"v1\"", .init(200, [fresh, "ETag: W/\"v1\""]),
            .validated("If-None-Match"), .validated("If-None-Match")),
        twoStale("HEAD freshens each", tag: tagged, method: "HEAD", .init(200, [fresh, tagged]), .any, .reused),
        twoStale("… or outdates each", tag: tagged, method: "HEAD", .init(200, [fresh, "ETag: \"v2\""]), .any, .forwarded),
    ]

    private static let keptFrom: [CacheCase] =
        ["no-store", "private"].map { directive in
            validated(
                "A 304 with \(directive) is of use once, and takes what is stored away",
                by: ["Cache-Control: \(directive)", tagged], forwarded)
        } + [
            validated(
                "The request's no-store: the 304 is of use for it alone", by: [fresh, tagged],
                client: ["Cache-Control: no-store"],
                .init(answer: .init(200, [fresh, tagged]), .validated("If-None-Match"), body: "step 0")),
            validated(
                "The request's Authorization: the 304 is of use for it alone", by: [fresh, tagged],
                client: ["Authorization: a b"],
                .init(answer: .init(200, [fresh, tagged]), .validated("If-None-Match"), body: "step 0")),
        ]

    private static func asking(_ sentence: String, _ condition: String, status: Int, asks: [String]) -> CacheCase {
        CacheCase(
            sentence,
            [
                .init(answer: .init(200, aged + [tagged, modified])),
                .init(
                    "GET", [condition], answer: .init(200, [fresh, tagged]), .validatedFor(status), status: status,
                    body: status == 304 ? "" : "step 0", asks: asks),
                reused(),
            ])
    }

    private static let conditions: [CacheCase] = [
        asking(
            "Both validators are sent", "X: 1", status: 200,
            asks: ["If-None-Match: \"v1\"", "If-Modified-Since: {-100000}"]),
        asking("Our tag takes the place of the client's", "If-None-Match: \"x\"", status: 200, asks: ["If-None-Match: \"v1\""]),
        asking(
            "… and the client's is looked at afterwards", "If-None-Match: \"v1\"", status: 304, asks: ["If-None-Match: \"v1\""]),
        asking(
            "Our date takes the place of the client's", "If-Modified-Since: {-200000}", status: 200,
            asks: ["If-Modified-Since: {-100000}"]),
        asking(
            "… and the client's is looked at afterwards, too", "If-Modified-Since: {-5000}", status: 304,
            asks: ["If-Modified-Since: {-100000}"]),
        CacheCase(
            "A range of what is stale: the whole is validated, and the range cut from it",
            [
                .init(answer: .init(200, aged + [tagged], body: "0123456789")),
                .init(
                    "GET", ["Range: bytes=2-4"], answer: .init(200, [fresh, tagged]), .validatedFor(206), status: 206,
                    body: "234",
                    asks: ["If-None-Match: \"v1\""]),
                .init(answer: nil, .reused, body: "0123456789"),
            ]),
    ]

    private static let replaced: [CacheCase] =
        [
            ("no-store", ["Cache-Control: no-store"]), ("private", ["Cache-Control: private"]),
        ].map { name, fields in
            CacheCase(
                "What changed and bears \(name): what was stored goes",
                [
                    .init(answer: .init(200, aged + [tagged])),
                    .init(answer: .init(200, fields), .replaced("If-None-Match"), body: "step 1"),
                    forwarded,
                ])
        }
        + [500, 502, 503, 504, 404].map { status in
            CacheCase(
                "A \(status) that may not be stored leaves what was stored where it is",
                [
                    .init(answer: .init(200, aged + [tagged])),
                    .init(answer: .init(status, ["Cache-Control: no-cache"]), .any, status: status, body: "step 1"),
                    .init(answer: .init(200, [fresh, tagged]), .any, status: 200),
                ])
        }

    private static func head(_ sentence: String, _ answer: CacheCase.Answer, _ then: CacheCase.Step) -> CacheCase {
        CacheCase(
            sentence,
            [
                .init(answer: .init(200, ["Cache-Control: max-age=60", tagged, "X-A: 1"])),
                .init("HEAD", answer: answer, .any, status: answer.status, after: 70),
                then,
            ])
    }

    private static let heads: [CacheCase] = [
        head(
            "HEAD updates what is stored", .init(200, [fresh, tagged, "X-A: 2"]),
            reused(present: ["X-A: 2"])),
        head("HEAD with another tag shows that it is outdated", .init(200, [fresh, "ETag: \"v2\""]), forwarded),
        head("HEAD with another length shows that it is outdated", .init(200, [fresh, tagged, "Content-Length: 99"]), forwarded),
        head(
            "HEAD that fails changes nothing", .init(404),
            .init(answer: .init(200, [fresh, tagged]), .validated("If-None-Match"), body: "step 0")),
    ]
}
