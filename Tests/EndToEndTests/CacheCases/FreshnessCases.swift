/// Freshness lifetime, age and dates (RFC 9111 §4.2, §5.1, §5.2.2, §5.3).
enum FreshnessCases {
    static let all = lifetimes + numbers + quoting + expires + age + dates + heuristics

    private static let lifetimes: [CacheCase] = [
        .twice("Nothing said: not reused", [], .forwarded),
        .twice("max-age", [fresh], .reused),
        .twice("max-age=0", ["Cache-Control: max-age=0"], .forwarded),
        .twice("max-age used up by Age", [fresh, "Age: 3601"], .forwarded),
        .twice("max-age not used up by Age", [fresh, "Age: 1800"], .reused),
        .twice("max-age before a past Expires", [fresh, "Expires: {-7200}"], .reused),
        .twice("max-age before an invalid Expires", [fresh, "Expires: 0"], .reused),
        .twice("max-age=0 before a future Expires", ["Cache-Control: max-age=0", "Expires: {3600}"], .forwarded),
        .twice("s-maxage", ["Cache-Control: s-maxage=3600"], .reused),
        .twice("A short s-maxage before max-age", ["Cache-Control: s-maxage=1, max-age=3600", "Age: 10"], .forwarded),
        .twice("A long s-maxage before max-age", ["Cache-Control: max-age=1, s-maxage=3600", "Age: 10"], .reused),
        .twice("s-maxage before a past Expires", ["Cache-Control: s-maxage=3600", "Expires: {-1}"], .reused),
        .twice("Expires", ["Expires: {3600}"], .reused),
        .twice("A past Expires", ["Expires: {-3600}"], .forwarded),
        .twice("Expires now", ["Expires: {0}"], .forwarded),
        .twice("Expires counts from Date", ["Expires: {3600}", "Date: {3600}"], .forwarded),
        .twice("Expires used up by Age", ["Expires: {3600}", "Age: 3700"], .forwarded),
    ]

    private static let numbers: [CacheCase] = [
        .twice("2^31 - 1", ["Cache-Control: max-age=2147483647"], .reused),
        .twice("2^31", ["Cache-Control: max-age=2147483648"], .reused),
        .twice("More than 2^31", ["Cache-Control: max-age=99999999999"], .reused),
        .twice("Zeros in front", ["Cache-Control: max-age=003600"], .reused),
        .twice("A directive in letters of any case", ["Cache-Control: MaX-aGe=3600"], .reused),
        .twice("A quoted number", ["Cache-Control: max-age=\"3600\""], .reused),
        .twice("A number in single quotes", ["Cache-Control: max-age='3600'"], .forwarded),
        .twice("A blank before =", ["Cache-Control: max-age =3600"], .forwarded),
        .twice("A blank behind =", ["Cache-Control: max-age= 3600"], .forwarded),
        .twice("A negative number", ["Cache-Control: max-age=-3600"], .forwarded),
        .twice("A fraction", ["Cache-Control: max-age=3600.0"], .forwarded),
        .twice("A letter behind", ["Cache-Control: max-age=3600a"], .forwarded),
        .twice("No number", ["Cache-Control: max-age"], .forwarded),
        .twice("Two lifetimes", ["Cache-Control: max-age=1800, max-age=1"], .forwarded),
        .twice("Two lifetimes on two lines", ["Cache-Control: max-age=0", fresh], .forwarded),
        .twice("The same lifetime twice", ["Cache-Control: max-age=3600, max-age=3600"], .reused),
    ]

    private static let quoting: [CacheCase] = [
        .twice("An unknown directive", ["Cache-Control: foo, max-age=3600"], .reused),
        .twice("A directive inside an unknown one's quotes", ["Cache-Control: foo=\"bar, max-age=0\", max-age=3600"], .reused),
        .twice("An escaped quote", ["Cache-Control: a=\"b\\\"\", max-age=3600"], .reused),
        .twice("max-age in quotes is none", ["Cache-Control: extension=\"max-age=3600\""], .forwarded),
        .twice("max-age behind an escaped quote is none", ["Cache-Control: extension=\"\\\"max-age=3600, a=b\""], .forwarded),
        .twice("no-store in quotes is none", ["Cache-Control: max-age=3600, foo=\"no-store\""], .reused),
        .twice("Empty elements", ["Cache-Control: , ,max-age=3600,,"], .reused),
    ]

    private static let expires: [CacheCase] = [
        .twice("Expires: 0 is past, whatever Last-Modified says", ["Expires: 0", modified], .forwarded),
        .twice("One digit for the hour", ["Expires: Thu, 18 Aug 2050 2:01:18 GMT"], .forwarded),
        .twice("UTC", ["Expires: Thu, 18 Aug 2050 02:01:18 UTC"], .forwarded),
        .twice("Another zone", ["Expires: Thu, 18 Aug 2050 02:01:18 AEST"], .forwarded),
        .twice("No comma", ["Expires: Thu 18 Aug 2050 02:01:18 GMT"], .forwarded),
        .twice("Two blanks", ["Expires: Thu, 18  Aug  2050 02:01:18 GMT"], .forwarded),
        .twice("Two digits for the year", ["Expires: Thu, 18 Aug 50 02:01:18 GMT"], .forwarded),
        .twice("Dashes", ["Expires: Thu, 18-Aug-2050 02:01:18 GMT"], .forwarded),
        .twice("Dots in the time", ["Expires: Thu, 18 Aug 2050 02.01.18 GMT"], .forwarded),
        .twice("One digit for the day", ["Expires: Thu, 8 Aug 2050 02:01:18 GMT"], .forwarded),
        .twice("Nothing", ["Expires:"], .forwarded),
        .twice("The rfc850 form", ["Expires: Thursday, 18-Aug-50 02:01:18 GMT"], .reused),
        .twice("The asctime form", ["Expires: Thu Aug  8 02:01:18 2050"], .reused),
        .twice("Small letters", ["Expires: thu, 18 aug 2050 02:01:18 gmt"], .reused),
    ]

    private static let age: [CacheCase] = [
        .twice("Zeros in front of Age", [fresh, "Age: 04000"], .forwarded),
        .twice("The first of two Age lines", [fresh, "Age: 4000", "Age: 0"], .forwarded),
        .twice("A list of ages", [fresh, "Age: 4000, 0"], .forwarded),
        .twice("A list of ages, the first small", [fresh, "Age: 0, 4000"], .reused),
        .twice("A fraction as Age", [fresh, "Age: 4000.0"], .reused),
        .twice("A negative Age", [fresh, "Age: -1"], .reused),
        .twice("A letter behind Age", [fresh, "Age: 4000a"], .reused),
        .twice("A letter behind a small Age", [fresh, "Age: 0a"], .reused),
        .twice("A parameter behind Age", [fresh, "Age: 4000;foo=bar"], .reused),
        .twice("A parameter behind a small Age", [fresh, "Age: 0;foo=bar"], .reused),
        .twice("A quoted Age", [fresh, "Age: \"4000\""], .reused),
        .twice("An Age beyond 2^31", [fresh, "Age: 99999999999"], .forwarded),
        CacheCase(
            "Age goes on from what it was",
            [
                .init(answer: .init(200, [fresh, "Age: 100"])),
                .init("GET", answer: nil, .reused, present: ["Age: 100"]),
            ]),
    ]

    private static let dates: [CacheCase] = [
        .twice("Date as old as the lifetime", [fresh, "Date: {-4000}"], .forwarded),
        .twice("Date within the lifetime", [fresh, "Date: {-1000}"], .reused),
        .twice("Date ahead of us", [fresh, "Date: {1000}"], .reused),
        .twice("No date in Date", [fresh, "Date: foo"], .reused),
        .twice("No Date", [fresh, "Date: none"], .reused),
        .twice("Expires without Date counts from the reception", ["Expires: {3600}", "Date: none"], .reused),
    ]

    private static let heuristics: [CacheCase] =
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map { status in
            .twice("A tenth of the time since the last change, \(status)", [modified], .reused, status: status)
        }
        + [201, 202, 299, 302, 303, 307, 400, 403, 499, 500, 502, 503, 504, 599].map { status in
            .twice("No heuristic for \(status)", [modified], .forwarded, status: status)
        } + [
            .twice("A heuristic for any status with public", [modified, "Cache-Control: public"], .reused, status: 599),
            .twice("A change of just now", ["Last-Modified: {-1}"], .any),
            .twice("No date in Last-Modified", ["Last-Modified: foo"], .forwarded),
            .twice("A change in the future", ["Last-Modified: {1000}"], .any),
        ]
}
