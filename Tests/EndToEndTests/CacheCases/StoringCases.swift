/// Which responses are stored, and which of their fields (RFC 9111 §3, §5.2.2, §5.4).
enum StoringCases {
    static let all = directives + statuses + methods + authorization + fields

    private static let directives: [CacheCase] = [
        .twice("no-store", ["Cache-Control: no-store, max-age=3600"], .forwarded),
        .twice("no-store in letters of any case", ["Cache-Control: No-StOrE, max-age=3600"], .forwarded),
        .twice("no-store on a second line", [fresh, "Cache-Control: no-store"], .forwarded),
        .twice("private", ["Cache-Control: private, max-age=3600"], .forwarded),
        .twice("public", ["Cache-Control: public, max-age=3600"], .reused),
        .twice("no-cache without a validator", ["Cache-Control: no-cache, max-age=3600"], .forwarded),
        .twice("no-cache in letters of any case", ["Cache-Control: No-CaChE, max-age=3600"], .forwarded),
        .twice("no-cache with a validator", ["Cache-Control: no-cache", tagged], .validated("If-None-Match")),
        .twice("no-cache before max-age", ["Cache-Control: max-age=3600, no-cache", tagged], .validated("If-None-Match")),
        .twice("must-revalidate while fresh", ["Cache-Control: must-revalidate, max-age=3600"], .reused),
        .twice("must-revalidate once stale", ["Cache-Control: must-revalidate, max-age=3600", "Age: 4000"], .forwarded),
        .twice("must-understand of a known status", ["Cache-Control: max-age=3600, no-store, must-understand"], .reused),
        .twice(
            "must-understand of an unknown status", ["Cache-Control: max-age=3600, must-understand"], .forwarded, status: 299),
        .twice("Pragma in a response says nothing", [fresh, "Pragma: no-cache"], .reused),
        .twice("CDN-Cache-Control is not for us", ["CDN-Cache-Control: max-age=3600"], .forwarded),
        .twice("Nor does it forbid", [fresh, "CDN-Cache-Control: max-age=0"], .reused),
        .twice("Surrogate-Control says nothing", [fresh, "Surrogate-Control: max-age=0"], .reused),
    ]

    private static let statuses: [CacheCase] =
        [
            200, 201, 202, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 410, 414, 499, 500, 501, 502, 503,
            504, 599,
        ].flatMap { status -> [CacheCase] in
            [
                .twice("\(status) with a lifetime", [fresh], .reused, status: status),
                .twice("\(status) with none left", stale, .forwarded, status: status),
            ]
        }

    private static let methods: [CacheCase] = [
        CacheCase(
            "A response to POST answers no GET",
            [.init("POST", answer: .init(200, [fresh])), .init(answer: .init(200, [fresh]), .forwarded)]),
        CacheCase(
            "A stored GET answers HEAD",
            [.init(answer: .init(200, [fresh])), .init("HEAD", answer: nil, .reused, status: 200, body: "")]),
        CacheCase(
            "A response to HEAD answers no GET",
            [
                .init("HEAD", answer: .init(200, [fresh])),
                .init(answer: .init(200, [fresh]), .forwarded, body: "step 1"),
            ]),
        CacheCase(
            "The query is part of the URI",
            [
                .init("GET", suffix: "?a", answer: .init(200, [fresh])),
                .init("GET", suffix: "?b", answer: .init(200, [fresh]), .forwarded),
                .init("GET", suffix: "?a", answer: nil, .reused),
            ]),
    ]

    private static let authorization: [CacheCase] = [
        .twice("Authorization", [fresh], .forwarded, first: ["Authorization: a b"]),
        .twice(
            "Authorization, the same again", [fresh], .forwarded, first: ["Authorization: a b"], second: ["Authorization: a b"]),
        .twice("… with public", ["Cache-Control: max-age=3600, public"], .reused, first: ["Authorization: a b"]),
        .twice("… with s-maxage", ["Cache-Control: s-maxage=3600"], .reused, first: ["Authorization: a b"]),
        .twice(
            "… with must-revalidate", ["Cache-Control: max-age=3600, must-revalidate"], .reused, first: ["Authorization: a b"]),
    ]

    private static let fields: [CacheCase] = [
        CacheCase(
            "Fields are stored, but not those of the connection",
            [
                .init(
                    answer: .init(
                        200,
                        [
                            fresh, "X-Kept: a", "Connection: x-named", "X-Named: b", "Keep-Alive: timeout=5",
                            "Proxy-Authenticate: Basic", "X-Kept: c",
                        ])),
                .init(
                    "GET", answer: nil, .reused, present: ["X-Kept: a", "X-Kept: c"],
                    absent: ["X-Named", "Keep-Alive", "Proxy-Authenticate"]),
            ]),
        CacheCase(
            "A field that private names is not stored",
            [
                .init(answer: .init(200, ["Cache-Control: private=\"x-own\", max-age=3600", "X-Own: a"])),
                .init("GET", answer: nil, .reused, absent: ["X-Own"]),
            ]),
        CacheCase(
            "A field that no-cache names is not stored",
            [
                .init(answer: .init(200, ["Cache-Control: no-cache=\"x-own\", max-age=3600", "X-Own: a"])),
                .init("GET", answer: nil, .reused, absent: ["X-Own"]),
            ]),
        .twice("Set-Cookie beside a lifetime", [fresh, "Set-Cookie: a=b"], .reused),
        .twice("Set-Cookie without a lifetime", [modified, "Set-Cookie: a=b"], .forwarded),
    ]
}
