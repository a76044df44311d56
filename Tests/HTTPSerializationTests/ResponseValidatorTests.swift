import HTTPMessage
import HTTPSerialization
import Testing

@Suite("Validation of whole responses")
struct ResponseValidatorTests {
    private let validator: ResponseValidator

    init() throws {
        let checks = ResponseHeadChecks(
            statuses: [try #require(StatusRange(200, through: 299))],
            contentTypes: [try #require(MediaTypePattern("application/json"))])
        validator = ResponseValidator(headChecks: checks, checksJSON: true)
    }

    private func codes(_ status: UInt16, _ type: String?, _ body: String, method: Method = .get) -> [String] {
        var head = ResponseHead()
        head.status = Status(status)
        if let type { head.fields.append(name: "Content-Type", value: type) }
        var words: [String] = []
        validator.faults(of: head, body: Array(body.utf8), to: method).forEach { words.append("\($0.word)") }
        return words
    }

    @Test("V1 to V6: faults are ordered from the outermost to the innermost")
    func order() {
        #expect(codes(200, "application/json", "{}").isEmpty)
        #expect(codes(404, "application/json", "{}") == ["unacceptable_status"])
        #expect(codes(200, "text/html", "<p>") == ["unacceptable_content_type"])
        #expect(codes(500, "text/html", "<p>") == ["unacceptable_status", "unacceptable_content_type"])
        // V5: content under an unacceptable status is still parsed, content of an unacceptable type is not.
        #expect(codes(422, "application/json", "{") == ["malformed_json", "unacceptable_status"])
        #expect(codes(200, nil, "{}") == ["unacceptable_content_type"])
        #expect(codes(200, nil, "").isEmpty)
        #expect(codes(204, nil, "").isEmpty)
        #expect(codes(200, "application/json", " ").isEmpty)
    }
}
