import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Sentences of RFC 9213 on targeted fields")
struct TargetedControlSentencesTests {
    @Test(
        "§2.2, §2.4: a field that is not listed has no effect, whatever its name ends in",
        arguments: ["CDN-Cache-Control", "Larder-Cache-Control", "X-Cache-Control", "Surrogate-Control"])
    func ignoresUnlisted(name: String) throws {
        let plain = response(200, "Cache-Control: max-age=60", #"ETag: "x""#)
        for value in ["max-age=600", "no-store", "private", "no-cache", "must-revalidate"] {
            let targeted = response(200, "Cache-Control: max-age=60", #"ETag: "x""#, "\(name): \(value)")
            #expect(decide(targeted) == decide(plain), "\(value)")
        }
    }

    @Test("§2.2, §3: a targeted field is forwarded and stored", arguments: ["CDN-Cache-Control", "X-Cache-Control"])
    func passesOn(name: String) throws {
        let stored = try stored(response(200, "Cache-Control: max-age=60", "\(name): max-age=600, x=\"y\""))
        #expect(stored.head.fields.values(of: name) == ["max-age=600, x=\"y\""])
        #expect(text(stored.preparedHead).contains("\(name): max-age=600, x=\"y\"\r\n"))
    }
}
