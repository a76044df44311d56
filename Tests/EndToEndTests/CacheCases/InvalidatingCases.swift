/// Unsafe methods, and an origin that fails (RFC 9111 §4.2.4, §4.4).
enum InvalidatingCases {
    static let all = unsafe.flatMap(invalidating) + safe + failing

    private static let unsafe = ["POST", "PUT", "DELETE", "PATCH", "FOO"]

    private static func invalidating(_ method: String) -> [CacheCase] {
        func referring(_ name: String) -> CacheCase {
            CacheCase(
                "\(method) elsewhere invalidates what \(name) names",
                [
                    .init(answer: .init(200, [fresh])),
                    .init(method, suffix: "/other", answer: .init(201, ["\(name): {self}"])),
                    .init(answer: .init(200, [fresh]), .forwarded),
                ])
        }
        return [
            CacheCase(
                "\(method) invalidates",
                [.init(answer: .init(200, [fresh])), .init(method), .init(answer: .init(200, [fresh]), .forwarded)]),
            CacheCase(
                "\(method) that fails does not",
                [.init(answer: .init(200, [fresh])), .init(method, answer: .init(500)), .init(answer: nil, .reused)]),
            referring("Location"), referring("Content-Location"),
            CacheCase(
                "\(method) that redirects invalidates",
                [
                    .init(answer: .init(200, [fresh])), .init(method, answer: .init(303)),
                    .init(answer: .init(200, [fresh]), .forwarded),
                ]),
        ]
    }

    private static let safe: [CacheCase] = ["HEAD", "OPTIONS"].map { method in
        CacheCase(
            "\(method) does not invalidate",
            [.init(answer: .init(200, [fresh])), .init(method), .init(answer: nil, .reused)])
    }

    private static let failing: [CacheCase] =
        ["must-revalidate", "proxy-revalidate", "s-maxage=3600", "no-cache"].map { directive in
            CacheCase(
                "\(directive): an error rather than something stale",
                [
                    .init(answer: .init(200, ["Cache-Control: max-age=3600, \(directive)", "Age: 4000", tagged])),
                    .init(answer: nil, .any, status: 504),
                ])
        }
        + [500, 502, 503, 504].map { status in
            CacheCase(
                "A \(status) is passed on where nothing may be stale",
                [
                    .init(answer: .init(200, ["Cache-Control: max-age=3600, must-revalidate", "Age: 4000", tagged])),
                    .init(answer: .init(status), .any, status: status, body: "step 1"),
                ])
        }
}
