/// Targeted fields that replace Cache-Control (RFC 9213), if the settings list them.
enum TargetedCases {
    static let settings = "cache: {targeted_cache_control: [Larder-Cache-Control, CDN-Cache-Control]}"

    static let all: [CacheCase] = [
        .twice("A lifetime", ["CDN-Cache-Control: max-age=3600"], .reused),
        .twice("… before none", ["CDN-Cache-Control: max-age=3600", "Cache-Control: no-store"], .reused),
        .twice("… before a past Expires", ["CDN-Cache-Control: max-age=3600", "Expires: 0"], .reused),
        .twice("None before a lifetime", ["CDN-Cache-Control: no-store", fresh], .forwarded),
        .twice("max-age=0 before a lifetime", ["CDN-Cache-Control: max-age=0", fresh], .forwarded),
        .twice("private", ["CDN-Cache-Control: private", fresh], .forwarded),
        .twice("no-cache", ["CDN-Cache-Control: no-cache, max-age=3600", tagged], .validated("If-None-Match")),
        .twice("The first on the list", ["CDN-Cache-Control: no-store", "Larder-Cache-Control: max-age=3600"], .reused),
        .twice("… if it is valid", ["CDN-Cache-Control: max-age=3600", "Larder-Cache-Control: no-store,"], .reused),
        .twice("… and not empty", ["CDN-Cache-Control: max-age=3600", "Larder-Cache-Control:"], .reused),
        .twice("None valid: Cache-Control", ["CDN-Cache-Control: max-age=\"", fresh], .reused),
        .twice("Capitals do not parse", ["CDN-Cache-Control: Max-Age=3600"], .forwarded),
        .twice("A blank before = does not parse", ["CDN-Cache-Control: max-age =3600"], .forwarded),
        .twice("A string is no number", ["CDN-Cache-Control: max-age=\"3600\""], .forwarded),
        .twice("A fraction is none", ["CDN-Cache-Control: max-age=3600.0"], .forwarded),
        .twice("Unknown directives", ["CDN-Cache-Control: foo=bar, max-age=3600"], .reused),
        .twice("Parameters", ["CDN-Cache-Control: max-age=3600;a=b"], .reused),
        .twice("Another field is not for us", ["Other-Cache-Control: no-store", fresh], .reused),
        CacheCase(
            "It is passed on, and Age counts",
            [
                .init(answer: .init(200, ["CDN-Cache-Control: max-age=3600", "Cache-Control: max-age=5"])),
                .init(
                    answer: nil, .reused, present: ["CDN-Cache-Control: max-age=3600", "Cache-Control: max-age=5", "Age: 60"],
                    after: 60),
            ]),
        CacheCase(
            "A 304 is read the same way",
            [
                .init(answer: .init(200, ["CDN-Cache-Control: max-age=60", tagged])),
                .init(
                    answer: .init(304, ["CDN-Cache-Control: max-age=600", "Cache-Control: no-store", tagged]), .any,
                    body: "step 0",
                    after: 70),
                .init(answer: nil, .reused, body: "step 0", after: 500),
            ]),
    ]
}
