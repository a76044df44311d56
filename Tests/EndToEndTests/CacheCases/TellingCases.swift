/// The contents of Cache-Status, fields that pass unchanged, and fields without effect (RFC 9211, RFC 9111 §5.2, RFC 8246).
enum TellingCases {
    static let all = told + passing + immutable + stored

    private static func telling(
        _ sentence: String, _ stored: [String], _ outcome: CacheCase.Outcome, _ member: String, asking: [String] = [],
        after: Int64 = 0
    ) -> CacheCase {
        CacheCase(
            sentence,
            [
                .init(answer: .init(200, stored)),
                .init(
                    "GET", asking, answer: .init(200, stored), outcome, tells: member, after: after
                ),
            ])
    }

    private static let told: [CacheCase] = [
        telling("A hit tells what is left of its lifetime", [fresh, "Age: 100"], .reused, "hit; ttl=3500"),
        telling(
            "… less than nothing where it is served stale", ["Cache-Control: max-age=60", tagged], .reused,
            "hit; ttl=-40; detail=max_stale", asking: ["Cache-Control: max-stale"], after: 100),
        telling(
            "A validation tells why, and what the origin said", ["Cache-Control: max-age=60", tagged],
            .validated("If-None-Match"), "fwd=stale; fwd-status=304", after: 100),
        telling(
            "What the client asked for is told", [fresh, tagged], .validated("If-None-Match"),
            "fwd=request; fwd-status=304; detail=request_no_cache", asking: ["Cache-Control: no-cache"]),
        telling(
            "What the origin asked for is told", ["Cache-Control: no-cache", tagged], .validated("If-None-Match"),
            "fwd=stale; fwd-status=304; detail=no_cache"),
        telling(
            "Another variant is told", [fresh, "Vary: Foo"], .forwarded, "fwd=vary-miss; stored", asking: ["Foo: 1"]),
        CacheCase(
            "Nothing stored, and stored now",
            [.init(answer: .init(200, [fresh]), tells: "fwd=uri-miss; stored")]),
        CacheCase(
            "Why it is not stored is told",
            [
                .init(
                    answer: .init(200, ["Cache-Control: private, max-age=60"]),
                    tells: "fwd=uri-miss; detail=private")
            ]),
        CacheCase(
            "A method that is not answered from the store is told",
            [.init("POST", tells: "fwd=method; detail=not_stored_method")]),
        CacheCase(
            "only-if-cached was neither answered from the store nor forwarded",
            [
                .init(
                    "GET", ["Cache-Control: only-if-cached"], answer: nil, .reused, status: 504,
                    tells: "detail=cache_miss_only_if_cached")
            ]),
        CacheCase(
            "What caches further up said stays in front",
            [
                .init(
                    answer: .init(200, [fresh, "Cache-Status: up; hit"]),
                    present: ["Cache-Status: up; hit"], tells: "fwd=uri-miss; stored"),
                .init(answer: nil, .reused, present: ["Cache-Status: up; hit"], tells: "hit; ttl=3600"),
            ]),
    ]

    private static let passing: [CacheCase] = [
        CacheCase(
            "Directives of the request are passed on, known or not",
            [.init("GET", ["Cache-Control: max-age=5, foo=\"bar\""], .any, asks: ["Cache-Control: max-age=5, foo=\"bar\""])]),
        CacheCase(
            "Directives of the response are passed on, known or not",
            [
                .init(
                    answer: .init(200, ["Cache-Control: max-age=3600, foo=\"bar\", no-transform"]),
                    present: ["Cache-Control: max-age=3600, foo=\"bar\", no-transform"]),
                .init(answer: nil, .reused, present: ["Cache-Control: max-age=3600, foo=\"bar\", no-transform"]),
            ]),
        CacheCase(
            "Pragma of the request is passed on", [.init("GET", ["Pragma: no-cache"], .any, asks: ["Pragma: no-cache"])]),
        CacheCase(
            "A condition on what is not stored is the origin's to judge, and its 304 is nobody else's",
            [
                .init(
                    "GET", ["If-None-Match: \"x\""], answer: .init(304, ["ETag: \"x\""]), .any, status: 304,
                    asks: ["If-None-Match: \"x\""]),
                .init(answer: .init(200, [fresh]), .forwarded, body: "step 1"),
            ]),
        CacheCase(
            "If-Unmodified-Since is the origin's to judge",
            [
                .init(answer: .init(200, [fresh, modified])),
                .init("GET", ["If-Unmodified-Since: {-200000}"], answer: .init(412), .forwarded, status: 412),
            ]),
    ]

    private static let unchanging = "Cache-Control: max-age=3600, immutable"

    private static let immutable: [CacheCase] = [
        .twice("immutable while fresh", [unchanging, tagged], .reused),
        .twice(
            "immutable of a forced reload", [unchanging, tagged], .validated("If-None-Match"), second: ["Cache-Control: no-cache"]
        ),
        .twice("immutable once stale", [unchanging, tagged, "Age: 4000"], .validated("If-None-Match")),
        .twice("immutable with an argument", ["Cache-Control: max-age=3600, immutable=0"], .reused),
        .twice("immutable alone is no lifetime", ["Cache-Control: immutable"], .forwarded),
        .twice("immutable in a request says nothing", [fresh], .reused, second: ["Cache-Control: immutable"]),
        .twice("immutable does not lift no-store", ["Cache-Control: max-age=3600, immutable, no-store"], .forwarded),
    ]

    private static let stored: [CacheCase] = [
        .twice("no-transform makes no difference", ["Cache-Control: max-age=3600, no-transform"], .reused),
        .twice(
            "stale-while-revalidate is no lifetime: behind it, the origin is asked", ["Cache-Control: stale-while-revalidate=60"],
            .servedStale),
        .twice("stale-if-error is no lifetime", ["Cache-Control: stale-if-error=60"], .forwarded),
        .twice("Content-Type is no matter", [fresh, "Content-Type: application/octet-stream"], .reused),
        .twice("Warning says nothing", [fresh, "Warning: 110 - \"stale\""], .reused),
    ]
}
