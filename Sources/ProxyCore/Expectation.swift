import HTTPMessage

/// Expect (RFC 9110 §10.1.1): the only expectation defined is `100-continue`.
enum Expectation {
    static func isContinueOnly(_ fields: Fields) -> Bool {
        for line in fields.lines where line.known == .expect {
            if !fields.value(of: line).equalsIgnoringCase("100-continue") { return false }
        }
        return true
    }
}
