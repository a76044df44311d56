import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Sentences of RFC 9111 §5.2.2 on the directives of responses")
struct ResponseDirectiveSentencesTests {
    /// The requirement of a directive, each in its own words.
    enum Use { case reused, validated, notStored }

    @Test(
        "Each directive of the section is obeyed",
        arguments: [
            ("max-age=60", 59, Use.reused), ("max-age=60", 60, .validated),
            ("max-age=60, must-revalidate", 59, .reused), ("max-age=60, must-revalidate", 60, .validated),
            ("max-age=60, must-understand", 59, .reused), ("max-age=60, must-understand, no-store", 59, .reused),
            ("max-age=60, no-cache", 0, .validated), ("max-age=60, no-cache=\"x-own\"", 59, .reused),
            ("max-age=60, no-store", 0, .notStored), ("max-age=60, no-transform", 59, .reused),
            ("max-age=60, private", 0, .notStored), ("max-age=60, private=\"x-own\"", 59, .reused),
            ("max-age=60, proxy-revalidate", 59, .reused), ("max-age=60, proxy-revalidate", 60, .validated),
            ("public", 0, .validated), ("public, max-age=60", 59, .reused),
            ("max-age=600, s-maxage=60", 59, .reused), ("max-age=600, s-maxage=60", 60, .validated),
        ] as [(String, Int64, Use)])
    func obeysEach(control: String, age: Int64, use: Use) throws {
        let head = response(200, "Cache-Control: \(control)", #"ETag: "x""#)
        guard case .store(let facts, _) = decide(head) else {
            #expect(use == .notStored)
            return
        }
        let decision = reuse(facts, after: age)
        if case .validate = decision { #expect(use == .validated) } else { #expect(decision.isFresh && use == .reused) }
    }
}
