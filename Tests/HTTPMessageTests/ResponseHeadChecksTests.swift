import HTTPMessage
import Testing

@Suite("Checks of a response's head")
struct ResponseHeadChecksTests {
    private static let json = MediaTypePattern("application/json").map { [$0] } ?? []
    private static let successful = StatusRange(200, through: 299).map { [$0] } ?? []

    private func head(_ code: UInt16, types: [String] = []) -> ResponseHead {
        var head = ResponseHead()
        head.status = Status(code)
        for type in types { head.fields.append(name: "Content-Type", value: type) }
        return head
    }

    private func codes(_ faults: ValidationFaults) -> [String] {
        var words: [String] = []
        faults.forEach { words.append("\($0.word)") }
        return words
    }

    @Test(
        "V1: a status outside the ranges is a fault; both ends of a range are included",
        arguments: [(199, 1), (200, 0), (299, 0), (300, 1)])
    func status(code: UInt16, count: Int) {
        let checks = ResponseHeadChecks(statuses: Self.successful)
        #expect(checks.faults(of: head(code), to: .get, hasBody: true).count == count)
    }

    @Test("V3: an HTML 500 that fails both checks lists the status before the type")
    func order() {
        let checks = ResponseHeadChecks(statuses: Self.successful, contentTypes: Self.json)
        let faults = checks.faults(of: head(500, types: ["text/html"]), to: .get, hasBody: true)
        #expect(codes(faults) == ["unacceptable_status", "unacceptable_content_type"])
        #expect(faults.outermost == .unacceptableStatus)
    }

    @Test("The fault of a malformed body is listed before that of its status")
    func bodyOutside() {
        var faults = ResponseHeadChecks(statuses: Self.successful).faults(of: head(422), to: .get, hasBody: true)
        faults.insert(.malformedJSON(JSONFault(.unexpectedByte, at: 7)))
        #expect(codes(faults) == ["malformed_json", "unacceptable_status"])
        #expect(faults.bodyOffset == 7)
        faults.insert(BodyCheckOutcome.passed)
        #expect(faults.count == 2)
    }

    @Test(
        "V4: a response without content is not checked for its type",
        arguments: [
            (200, Method.get, true, 1), (200, .get, false, 0), (200, .head, true, 0), (204, .get, true, 0), (304, .get, true, 0),
            (205, .get, false, 0), (205, .get, true, 1),
        ])
    func exemptions(code: UInt16, method: Method, hasBody: Bool, count: Int) {
        let checks = ResponseHeadChecks(contentTypes: Self.json)
        #expect(checks.faults(of: head(code), to: method, hasBody: hasBody).count == count)
        #expect(checks.faults(of: head(code, types: ["text/html"]), to: method, hasBody: hasBody).count == count)
        #expect(checks.faults(of: head(code, types: ["application/json"]), to: method, hasBody: hasBody).isEmpty)
    }

    @Test("A response with two types is accepted only if both are")
    func twoTypes() {
        let checks = ResponseHeadChecks(contentTypes: Self.json)
        let both = head(200, types: ["application/json", "text/html"])
        #expect(checks.faults(of: both, to: .get, hasBody: true).contains(.unacceptableContentType))
        let same = head(200, types: ["application/json", "Application/JSON"])
        #expect(checks.faults(of: same, to: .get, hasBody: true).isEmpty)
    }

    @Test("A range must have codes of three digits in order", arguments: [(99, 200), (200, 199), (200, 600), (0, 0)])
    func badRange(lower: UInt16, upper: UInt16) {
        #expect(StatusRange(lower, through: upper) == nil)
    }
}
