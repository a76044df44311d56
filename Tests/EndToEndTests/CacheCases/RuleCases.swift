/// Rules about the cache key, the lifetime and the reuse of responses. Each rule matches the paths that end in its name.
enum RuleCases {
    static let all = keys + contents + lifetimes + policies

    static let settings =
        "rules:\n"
        + [
            ("drop", "key: {drop_query: [\"utm_*\"]}"), ("keep", "key: {keep_query: [id]}"), ("sort", "key: {sort_query: true}"),
            ("tenant", "key: {fields: [X-Tenant]}"), ("query", "key: {body: QUERY}"), ("post", "key: {body: POST}, unsafe: true"),
            ("negative", "ttl: {404: 1m, 5xx: 10s, default: 1h}"), ("lifetime", "ttl: 1h"), ("longer", "ttl: 1h, unsafe: true"),
            ("exact", "heuristic: false"), ("grace", "grace: 10m"), ("never", "store: never"), ("reload", "policy: reload"),
            ("always", "policy: stored_else_load, unsafe: true"), ("only", "policy: stored_only"), ("ask", "policy: revalidate"),
            ("private", "ignore: [private], unsafe: true"), ("cookies", "set_cookie: never"), ("two", "variants: 2"),
        ].map { name, words in "  - {name: \(name), match: {path: \"/*/\(name)\"}, cache: {\(words)}}\n" }.joined()

    /// The same target twice, or two targets.
    private static func twice(
        _ sentence: String, _ rule: String, _ fields: [String], _ outcome: CacheCase.Outcome, queries: [String] = ["", ""],
        method: String = "GET", status: Int = 200, requests: [[String]] = [[], []], contents: [String?] = [nil, nil],
        after: Int64 = 0
    ) -> CacheCase {
        CacheCase(
            sentence,
            (0..<2).map { index in
                .init(
                    method, requests[index], suffix: "/" + rule + queries[index], answer: .init(status, fields),
                    index == 0 ? .any : outcome, status: status, body: index == 1 && outcome == .reused ? "step 0" : nil,
                    after: index == 0 ? 0 : after, content: contents[index])
            })
    }

    private static let keys: [CacheCase] = [
        twice("drop_query: what is dropped does not count", "drop", [fresh], .reused, queries: ["?a=1&utm_x=1", "?utm_y=2&a=1"]),
        twice("drop_query: what is left counts", "drop", [fresh], .forwarded, queries: ["?a=1", "?a=2"]),
        twice(
            "drop_query: what could be read another way counts", "drop", [fresh], .forwarded,
            queries: ["?utm_x=1;a=1", "?utm_x=1;a=2"]),
        twice("keep_query: nothing else counts", "keep", [fresh], .reused, queries: ["?id=1&a=1", "?b=2&id=1"]),
        twice("keep_query: what is kept counts", "keep", [fresh], .forwarded, queries: ["?id=1", "?id=2"]),
        twice("sort_query: the order does not count", "sort", [fresh], .reused, queries: ["?a=1&b=2", "?b=2&a=1"]),
        twice("sort_query: that of one name does", "sort", [fresh], .forwarded, queries: ["?a=1&a=2", "?a=2&a=1"]),
        twice("Without a rule the order counts", "none", [fresh], .forwarded, queries: ["?a=1&b=2", "?b=2&a=1"]),
        twice("fields: the same value", "tenant", [fresh], .reused, requests: [["X-Tenant: 1"], ["X-Tenant: 1"]]),
        twice("fields: another value", "tenant", [fresh], .forwarded, requests: [["X-Tenant: 1"], ["X-Tenant: 2"]]),
        twice("fields: none", "tenant", [fresh], .forwarded, requests: [["X-Tenant: 1"], []]),
        CacheCase(
            "A write takes away what stands under other keys",
            [
                .init(suffix: "/drop?a=1&utm_x=1", answer: .init(200, [fresh])),
                .init("DELETE", suffix: "/drop?a=1&utm_x=2"),
                .init(suffix: "/drop?a=1", answer: .init(200, [fresh]), .forwarded),
            ]),
        CacheCase(
            "variants: the newest are kept",
            ["1", "2", "3"].map { .init("GET", ["Foo: \($0)"], suffix: "/two", answer: .init(200, [fresh, "Vary: Foo"])) }
                + [
                    .init("GET", ["Foo: 3"], suffix: "/two", answer: nil, .reused, body: "step 2"),
                    .init("GET", ["Foo: 2"], suffix: "/two", answer: nil, .reused, body: "step 1"),
                    .init(
                        "GET", ["Foo: 1"], suffix: "/two", answer: .init(200, [fresh, "Vary: Foo"]), .forwarded, body: "step 5"),
                ]),
    ]

    private static let contents: [CacheCase] = [
        twice("QUERY by content: the same", "query", [fresh], .reused, method: "QUERY", contents: ["one", "one"]),
        twice("QUERY by content: another", "query", [fresh], .forwarded, method: "QUERY", contents: ["one", "two"]),
        twice(
            "QUERY by content: another type", "query", [fresh], .forwarded, method: "QUERY",
            requests: [["Content-Type: a/b"], ["Content-Type: a/c"]], contents: ["one", "one"]),
        twice("QUERY without a rule", "none", [fresh], .forwarded, method: "QUERY", contents: ["one", "one"]),
        twice("QUERY by content, no lifetime", "query", [], .forwarded, method: "QUERY", contents: ["one", "one"]),
        twice("POST by content: the same", "post", [fresh], .reused, method: "POST", contents: ["one", "one"]),
        twice("POST by content: another", "post", [fresh], .forwarded, method: "POST", contents: ["one", "two"]),
        CacheCase(
            "A stored QUERY answers no GET",
            [
                .init("QUERY", suffix: "/query", answer: .init(200, [fresh]), content: "one"),
                .init(suffix: "/query", answer: .init(200, [fresh]), .forwarded),
            ]),
        CacheCase(
            "A POST takes stored answers to QUERY away",
            [
                .init("QUERY", suffix: "/query", answer: .init(200, [fresh]), content: "one"),
                .init("POST", suffix: "/query"),
                .init("QUERY", suffix: "/query", answer: .init(200, [fresh]), .forwarded, content: "one"),
            ]),
        CacheCase(
            "A QUERY does not",
            [
                .init(suffix: "/query", answer: .init(200, [fresh])),
                .init("QUERY", suffix: "/query", answer: .init(200), content: "one"),
                .init(suffix: "/query", answer: nil, .reused, body: "step 0"),
            ]),
    ]

    private static let lifetimes: [CacheCase] = [
        twice("ttl where the origin gives no lifetime", "lifetime", [], .reused, after: 3500),
        twice("ttl is over", "lifetime", [], .forwarded, after: 3700),
        twice("ttl and a lifetime of the origin's", "lifetime", ["Cache-Control: max-age=60"], .forwarded, after: 100),
        twice("ttl and no-store", "lifetime", ["Cache-Control: no-store"], .forwarded),
        twice("ttl and private", "lifetime", ["Cache-Control: private"], .forwarded),
        twice("ttl and no-cache", "lifetime", ["Cache-Control: no-cache", tagged], .validated("If-None-Match")),
        twice("ttl and Authorization", "lifetime", [], .forwarded, requests: [["Authorization: a b"], []]),
        twice("ttl and a cookie", "lifetime", ["Set-Cookie: a=b"], .forwarded),
        twice("An unsafe ttl and a lifetime of the origin's", "longer", ["Cache-Control: max-age=60"], .reused, after: 100),
        twice("An unsafe ttl and no-store", "longer", ["Cache-Control: no-store"], .forwarded),
        twice("ttl by status: a 404", "negative", [], .reused, status: 404, after: 50),
        twice("ttl by status: a 404 that is over", "negative", [], .forwarded, status: 404, after: 70),
        twice("ttl by status: a 503", "negative", [], .reused, status: 503, after: 5),
        twice("ttl by status: a 503 that is over", "negative", [], .forwarded, status: 503, after: 15),
        twice("ttl by status: the others", "negative", [], .reused, after: 3500),
        twice("ttl by status: what the default may not keep", "negative", [], .forwarded, status: 302),
        twice("heuristic: false", "exact", [modified], .validated("If-Modified-Since")),
        twice("heuristic: false and a lifetime", "exact", [fresh, modified], .reused),
        CacheCase(
            "grace: stale while it is asked about",
            [
                .init(suffix: "/grace", answer: .init(200, ["Cache-Control: max-age=60", tagged])),
                .init(
                    suffix: "/grace", answer: .init(304, ["Cache-Control: max-age=3600", tagged]), .servedStale, body: "step 0",
                    after: 100),
                .init(
                    "GET", ["Cache-Control: max-age=1000"], suffix: "/grace",
                    answer: .init(304, ["Cache-Control: max-age=3600", tagged]), .any, body: "step 0"),
            ]),
        CacheCase(
            "grace: where the origin fails",
            [
                .init(suffix: "/grace", answer: .init(200, ["Cache-Control: max-age=60", tagged])),
                .init(suffix: "/grace", answer: nil, .servedStale, status: 200, body: "step 0", after: 600),
            ]),
        twice("grace is over", "grace", ["Cache-Control: max-age=60", tagged], .validated("If-None-Match"), after: 700),
        twice(
            "grace and must-revalidate", "grace", ["Cache-Control: max-age=60, must-revalidate", tagged],
            .validated("If-None-Match"), after: 100),
        twice("grace and no-cache", "grace", ["Cache-Control: no-cache", tagged], .validated("If-None-Match")),
    ]

    private static let policies: [CacheCase] = [
        twice("store: never", "never", [fresh], .forwarded),
        twice("policy: reload", "reload", [fresh], .forwarded),
        twice("policy: revalidate", "ask", [fresh, tagged], .validated("If-None-Match")),
        twice("policy: stored_else_load", "always", ["Cache-Control: max-age=1, must-revalidate"], .reused, after: 5000),
        twice("policy: stored_else_load and no-store", "always", ["Cache-Control: no-store"], .forwarded),
        twice(
            "policy: stored_else_load and the request's Authorization", "always", [fresh], .forwarded,
            requests: [["Authorization: a b"], []]),
        CacheCase("policy: stored_only", [.init(suffix: "/only", answer: nil, .reused, status: 504)]),
        twice("ignore: private", "private", ["Cache-Control: private, max-age=60"], .reused),
        twice("ignore: private, and no-store", "private", ["Cache-Control: private, no-store, max-age=60"], .forwarded),
        twice(
            "ignore: private, and Authorization", "private", ["Cache-Control: private, max-age=60"], .forwarded,
            requests: [["Authorization: a b"], []]),
        twice("set_cookie: never", "cookies", [fresh, "Set-Cookie: a=b"], .forwarded),
        twice("set_cookie: never, and no cookie", "cookies", [fresh], .reused),
    ]
}
