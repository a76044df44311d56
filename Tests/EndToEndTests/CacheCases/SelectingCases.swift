/// Vary, the request's directives, and HEAD (RFC 9111 §4, §4.1, §5.2.1, §5.4).
enum SelectingCases {
    static let all = vary + directives

    private static let one = ["Foo: 1"]
    private static let two = ["Foo: 2"]
    private static let varies = [fresh, "Vary: Foo"]

    private static let vary: [CacheCase] = [
        .twice("The same value", varies, .reused, first: one, second: one),
        .twice("Another value", varies, .forwarded, first: one, second: two),
        .twice("The field left out", varies, .forwarded, first: one),
        .twice("The field added", varies, .forwarded, second: one),
        .twice("Absent both times", varies, .reused),
        .twice("Vary: *", [fresh, "Vary: *"], .forwarded),
        .twice("* among names", [fresh, "Vary: *, Foo"], .forwarded, first: one, second: one),
        .twice("* on a second line", [fresh, "Vary: Foo", "Vary: *"], .forwarded, first: one, second: one),
        .twice("Nothing named", [fresh, "Vary: ,"], .reused),
        .twice("A name in letters of any case", [fresh, "Vary: fOo"], .reused, first: one, second: one),
        .twice(
            "Two names, both the same", [fresh, "Vary: Foo, Bar"], .reused, first: one + ["Bar: a"], second: ["Bar: a"] + one),
        .twice(
            "Two names, one different", [fresh, "Vary: Foo, Bar"], .forwarded, first: one + ["Bar: a"], second: one + ["Bar: b"]),
        .twice("Two lines", [fresh, "Vary: Foo", "Vary: Bar"], .forwarded, first: one + ["Bar: a"], second: one + ["Bar: b"]),
        .twice("Two lines of a field are a list", varies, .reused, first: one + two, second: ["Foo: 1, 2"]),
        .twice(
            "Blanks in a list", [fresh, "Vary: Accept-Language"], .reused, first: ["Accept-Language: en,de"],
            second: ["Accept-Language: en, de"]),
        .twice(
            "An escaped quote ends no string: blanks in it count", [fresh, "Vary: Accept"], .forwarded,
            first: [#"Accept: a/b;c="\"d,e""#],
            second: [#"Accept: a/b;c="\"d, e""#]),
        .twice(
            "An escaped quote ends no string: blanks behind it do not count", [fresh, "Vary: Accept"], .reused,
            first: [#"Accept: a/b;c="\"d,e",f/g"#],
            second: [#"Accept: a/b;c="\"d,e" , f/g"#]),
        .twice("Cookie", [fresh, "Vary: Cookie"], .forwarded, first: ["Cookie: a=1"], second: ["Cookie: a=2"]),
        CacheCase(
            "Each value has a response of its own",
            [
                .init("GET", one, answer: .init(200, varies)),
                .init("GET", two, answer: .init(200, varies), .forwarded),
                .init("GET", one, answer: nil, .reused, body: "step 0"),
                .init("GET", two, answer: nil, .reused, body: "step 1"),
            ]),
        CacheCase(
            "A newer response that omits Vary serves the requests that match no other",
            [
                .init("GET", one, answer: .init(200, varies + ["Date: {-10}"])),
                .init("GET", two, answer: .init(200, [fresh]), .forwarded),
                .init("GET", one, answer: nil, .reused, body: "step 0"),
                .init("GET", ["Foo: 3"], answer: nil, .reused, body: "step 1"),
                .init("GET", answer: nil, .reused, body: "step 1"),
            ]),
        CacheCase(
            "An older response that omits Vary as well",
            [
                .init("GET", answer: .init(200, [fresh, "Date: {-10}"])),
                .init("GET", one + ["Cache-Control: no-cache"], answer: .init(200, varies), .forwarded),
                .init("GET", one, answer: nil, .reused, body: "step 1"),
                .init("GET", two, answer: nil, .reused, body: "step 0"),
            ]),
    ]

    private static func asking(_ directive: String, _ fields: [String], _ outcome: CacheCase.Outcome) -> CacheCase {
        .twice("The request's \(directive), \(fields)", fields, outcome, second: ["Cache-Control: \(directive)"])
    }

    private static let directives: [CacheCase] = [
        asking("max-age=0", [fresh], .forwarded),
        asking("max-age=1", [fresh, "Age: 30"], .forwarded),
        asking("max-age=100", [fresh, "Age: 30"], .reused),
        asking("min-fresh=3700", [fresh], .forwarded),
        asking("min-fresh=3000", [fresh], .reused),
        asking("min-fresh=1500", [fresh, "Age: 2500"], .forwarded),
        asking("max-stale=1000", [fresh, "Age: 3700", tagged], .reused),
        asking("max-stale", [fresh, "Age: 3700", tagged], .reused),
        asking("max-stale=5", [fresh, "Age: 3700", tagged], .validated("If-None-Match")),
        asking("max-stale", ["Cache-Control: max-age=1, must-revalidate", "Age: 9", tagged], .validated("If-None-Match")),
        asking("no-cache", [fresh], .forwarded),
        asking("no-cache", [fresh, tagged], .validated("If-None-Match")),
        asking("no-cache", [fresh, modified], .validated("If-Modified-Since")),
        asking("no-store", [fresh], .reused),
        asking("only-if-cached", [fresh], .reused),
        .twice("Pragma of a request without Cache-Control", [fresh], .forwarded, second: ["Pragma: no-cache"]),
        .twice("Pragma beside Cache-Control", [fresh], .reused, second: ["Pragma: no-cache", "Cache-Control: max-age=5000"]),
        CacheCase(
            "only-if-cached of what is not stored",
            [.init("GET", ["Cache-Control: only-if-cached"], answer: nil, .reused, status: 504)]),
        CacheCase(
            "no-store of the request that brought it",
            [
                .init("GET", ["Cache-Control: no-store"], answer: .init(200, [fresh])),
                .init(answer: .init(200, [fresh]), .forwarded),
            ]),
    ]
}
