/// Stale responses: served during a validation and after errors (RFC 9111 §4.2.4, RFC 5861).
enum StaleCases {
    static let all = whileRevalidated + closedByOrigin + closedByRequest + onError + superseded + unreachable + onArrival + aging

    private static let window = "Cache-Control: max-age=60, stale-while-revalidate=30"
    /// A client that does not accept stale responses: it joins the validation in flight, or gets its result.
    /// If it looked just before the result arrived, Larder sends one more request, whose response must be the same.
    private static let demand = ["Cache-Control: max-age=1000"]

    private static let whileRevalidated: [CacheCase] =
        [
            CacheCase(
                "In the window of stale-while-revalidate what is stored comes, and a 304 makes it fresh",
                [
                    .init(answer: .init(200, [window, tagged])),
                    .init(
                        answer: .init(304, [window, tagged]), .servedStale, body: "step 0", present: ["Age: 70"], after: 70),
                    .init("GET", demand, answer: .init(304, [window, tagged]), .any, body: "step 0"),
                    .init(answer: nil, .reused, body: "step 0"),
                ]),
            CacheCase(
                "… and what is new takes its place",
                [
                    .init(answer: .init(200, [window, tagged])),
                    .init(answer: .init(200, [window, "ETag: \"v2\""]), .servedStale, body: "step 0", after: 70),
                    .init("GET", demand, answer: .init(200, [window, "ETag: \"v2\""], body: "step 1"), .any, body: "step 1"),
                    .init(answer: nil, .reused, body: "step 1"),
                ]),
            CacheCase(
                "… without a validator too",
                [
                    .init(answer: .init(200, [window])),
                    .init(answer: .init(200, [window]), .servedStale, body: "step 0", after: 80),
                    .init("GET", demand, answer: .init(200, [window], body: "step 1"), .any, body: "step 1"),
                ]),
            CacheCase(
                "… and what may not be stored lets it go",
                [
                    .init(answer: .init(200, [window, tagged])),
                    .init(answer: .init(200, ["Cache-Control: no-store"]), .servedStale, body: "step 0", after: 70),
                    .init("GET", demand, answer: .init(200, ["Cache-Control: no-store"]), .any),
                    .init(answer: .init(200, [window]), .forwarded, body: "step 3"),
                ]),
            CacheCase(
                "Behind the window it is validated first",
                [
                    .init(answer: .init(200, [window, tagged])),
                    .init(answer: .init(200, [window, tagged]), .validated("If-None-Match"), body: "step 0", after: 92),
                ]),
            CacheCase(
                "HEAD in the window: the whole is asked for",
                [
                    .init(answer: .init(200, [window, tagged])),
                    .init("HEAD", answer: .init(200, [window, "ETag: \"v2\""]), .servedStale, status: 200, after: 70),
                    .init("GET", demand, answer: .init(200, [window, "ETag: \"v2\""], body: "step 1"), .any, body: "step 1"),
                ]),
        ]

    private static let closedByOrigin: [CacheCase] =
        ["must-revalidate", "proxy-revalidate", "s-maxage=60", "no-cache"].map { directive in
            CacheCase(
                "\(directive) closes the window",
                [
                    .init(answer: .init(200, [window + ", " + directive, tagged])),
                    .init(answer: .init(200, [window, tagged]), .validated("If-None-Match"), body: "step 0", after: 70),
                ])
        }

    private static let closedByRequest: [CacheCase] =
        ["no-cache", "max-age=1000", "min-fresh=1", "max-stale=5"].map { directive in
            CacheCase(
                "The request's \(directive) closes the window",
                [
                    .init(answer: .init(200, [window, tagged])),
                    .init(
                        "GET", ["Cache-Control: \(directive)"], answer: .init(200, [window, tagged]),
                        .validated("If-None-Match"), body: "step 0", after: 70),
                ])
        }

    private static func erring(_ sentence: String, _ control: String, _ field: [String] = [], servesStale: Bool) -> [CacheCase] {
        [500, 502, 503, 504].map { status in
            CacheCase(
                "\(sentence), \(status)",
                [
                    .init(answer: .init(200, ["Cache-Control: max-age=60\(control)", tagged])),
                    .init(
                        "GET", field, answer: .init(status), .any, status: servesStale ? 200 : status,
                        body: servesStale ? "step 0" : "step 1", present: servesStale ? ["Age: 100"] : [], after: 100),
                ])
        } + [
            CacheCase(
                "\(sentence), broken",
                [
                    .init(answer: .init(200, ["Cache-Control: max-age=60\(control)", tagged])),
                    .init("GET", field, answer: nil, .any, status: servesStale ? 200 : 504, after: 100),
                ])
        ]
    }

    private static let onError: [CacheCase] = allowed + forbidden + otherStatuses

    private static let allowed: [CacheCase] =
        erring("stale-if-error of the response", ", stale-if-error=50", servesStale: true)
        + erring("Staler than stale-if-error", ", stale-if-error=30", servesStale: false)
        + erring("stale-if-error of the request", "", ["Cache-Control: stale-if-error=50"], servesStale: true)
        + erring("Staler than the request's", "", ["Cache-Control: stale-if-error=30"], servesStale: false)
        + erring("Nobody allows it", "", servesStale: false)

    private static let forbidden: [CacheCase] = ["must-revalidate", "proxy-revalidate", "s-maxage=60", "no-cache"].flatMap {
        erring("\($0) beside stale-if-error", ", stale-if-error=50, \($0)", servesStale: false)
    }

    /// A 429 says as little about the resource as a 503.
    private static let otherStatuses: [CacheCase] = [501, 505, 404, 403, 429].map { status in
        let isError = status == 429
        return CacheCase(
            "\(status) is \(isError ? "an" : "no") error in this sense",
            [
                .init(answer: .init(200, ["Cache-Control: max-age=60, stale-if-error=50", tagged])),
                .init(
                    answer: .init(status), .any, status: isError ? 200 : status, body: isError ? "step 0" : "step 1",
                    after: 100),
            ])
    }

    private static let superseded: [CacheCase] = ["", tagged].flatMap { validator in
        let known = validator.isEmpty ? "without a validator" : "with one"
        let stored = CacheCase.Answer(200, ["Cache-Control: max-age=60, stale-if-error=500", validator].filter { !$0.isEmpty })
        let unstorable = CacheCase.Answer(200, ["Cache-Control: no-store"])
        return [
            CacheCase(
                "What a new response replaced that may not be stored does not stand in for it, \(known)",
                [
                    .init(answer: stored),
                    .init(answer: unstorable, .any, status: 200, body: "step 1", after: 100),
                    .init(answer: nil, .any, status: 502),
                ]),
            CacheCase(
                "… nor where the client asked anew, \(known)",
                [
                    .init(answer: stored),
                    .init("GET", ["Cache-Control: no-cache"], answer: unstorable, .any, status: 200, body: "step 1"),
                    .init(answer: unstorable, .forwarded, status: 200, body: "step 2"),
                ]),
        ]
    }

    private static let unreachable: [CacheCase] = [
        CacheCase(
            "What is stored is there again once the origin is",
            [
                .init(answer: .init(200, ["Cache-Control: max-age=60, stale-if-error=50", tagged])),
                .init(answer: nil, .any, status: 200, body: "step 0", after: 100),
                .init(
                    answer: .init(200, ["Cache-Control: max-age=60", tagged]), .validated("If-None-Match"), status: 200,
                    body: "step 0"),
                .init(answer: nil, .reused, body: "step 0"),
            ]),
        CacheCase("Nothing stored: the error as it is", [.init(answer: nil, .any, status: 502)]),
    ]

    private static let onArrival: [CacheCase] = [
        CacheCase(
            "Stale on arrival, and validated",
            [
                .init(answer: .init(200, stale + [tagged])),
                .init(answer: .init(200, [fresh, tagged]), .validated("If-None-Match"), body: "step 0"),
            ]),
        CacheCase(
            "Stale on arrival without a validator: for max-stale",
            [
                .init(answer: .init(200, stale)),
                .init("GET", ["Cache-Control: max-stale=1000"], answer: nil, .reused, body: "step 0"),
                .init(answer: .init(200, stale), .forwarded),
            ]),
        CacheCase(
            "Stale on arrival: for an error",
            [
                .init(answer: .init(200, ["Cache-Control: max-age=3600, stale-if-error=1000", "Age: 4000"])),
                .init(answer: .init(503), .any, status: 200, body: "step 0"),
            ]),
        CacheCase(
            "Never fresh, and no validator: of no use",
            [
                .init(answer: .init(200, ["Cache-Control: max-age=0"])),
                .init("GET", ["Cache-Control: max-stale"], answer: .init(200, [fresh]), .forwarded, body: "step 1"),
            ]),
    ]

    private static let lifetimes: [(name: String, fields: [String])] = [
        ("max-age", ["Cache-Control: max-age=60"]), ("s-maxage", ["Cache-Control: s-maxage=60, max-age=5"]),
        ("Expires", ["Expires: {60}"]), ("max-age beside Age", ["Cache-Control: max-age=100", "Age: 40"]),
        ("the heuristic", ["Last-Modified: {-600}"]),
    ]

    private static let aging: [CacheCase] = lifetimes.flatMap { ending($0.name, $0.fields) } + passing

    private static func ending(_ name: String, _ fields: [String]) -> [CacheCase] {
        [
            CacheCase(
                "Fresh to the end of its lifetime: \(name)",
                [
                    .init(answer: .init(200, fields)),
                    .init(answer: nil, .reused, body: "step 0", after: 55),
                ]),
            CacheCase(
                "Stale behind it: \(name)",
                [
                    .init(answer: .init(200, fields)),
                    .init(answer: .init(200, fields), .any, after: 65, total: 2),
                ]),
        ]
    }

    private static let passing: [CacheCase] = [
        CacheCase(
            "Age is what has passed",
            [
                .init(answer: .init(200, [fresh, "Age: 100"])),
                .init(answer: nil, .reused, present: ["Age: 150"], after: 50),
                .init(answer: nil, .reused, present: ["Age: 1150"], after: 1000),
            ]),
        CacheCase(
            "A 304 begins a new lifetime",
            [
                .init(answer: .init(200, ["Cache-Control: max-age=60", tagged])),
                .init(
                    answer: .init(200, ["Cache-Control: max-age=60", tagged]), .validated("If-None-Match"),
                    present: ["Age: 0"], after: 70),
                .init(answer: nil, .reused, present: ["Age: 50"], after: 50),
                .init(answer: .init(200, [fresh, tagged]), .validated("If-None-Match"), after: 20),
            ]),
        CacheCase(
            "The request's max-age counts with the time",
            [
                .init(answer: .init(200, [fresh])),
                .init("GET", ["Cache-Control: max-age=100"], answer: nil, .reused, after: 90),
                .init("GET", ["Cache-Control: max-age=100"], answer: .init(200, [fresh]), .forwarded, after: 20),
            ]),
        CacheCase(
            "min-fresh counts with the time",
            [
                .init(answer: .init(200, [fresh])),
                .init("GET", ["Cache-Control: min-fresh=3000"], answer: nil, .reused, after: 500),
                .init("GET", ["Cache-Control: min-fresh=3000"], answer: .init(200, [fresh]), .forwarded, after: 200),
            ]),
        CacheCase(
            "max-stale is bounded by the time",
            [
                .init(answer: .init(200, ["Cache-Control: max-age=60"])),
                .init("GET", ["Cache-Control: max-stale=50"], answer: nil, .reused, after: 100),
                .init("GET", ["Cache-Control: max-stale=50"], answer: .init(200, [fresh]), .any, body: "step 2", after: 20),
            ]),
    ]
}
