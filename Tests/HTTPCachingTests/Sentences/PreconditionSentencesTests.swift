import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Sentences of RFC 9111 §4.3.2 on preconditions")
struct PreconditionSentencesTests {
    @Test(
        "Without Last-Modified and Date, the time of reception is compared",
        arguments: [(0, ConditionOutcome.notModified), (60, .notModified), (-1, .full)] as [(Int64, ConditionOutcome)])
    func timeOfReception(since: Int64, expected: ConditionOutcome) throws {
        let stored = try stored(response(200, "Cache-Control: max-age=60", date: false))
        let request = get("If-Modified-Since: " + date(since))
        #expect(Validation.evaluate(request, directives: RequestDirectives(request), against: stored) == expected)
    }
}
