import TextCoding

/// The result of `larder pins check`, for people, for programs, and for CI.
package struct PinCheckReport {
    let checks: [PinCheck]
    /// Whether warnings are treated as faults.
    let isStrict: Bool

    package init(checks: [PinCheck], isStrict: Bool) {
        self.checks = checks
        self.isStrict = isStrict
    }

    /// 7 if a host is rejected, will be rejected, or has a warning in strict mode. Else 1 if a host cannot be reached. Else 0.
    package var exitCode: Int32 {
        if checks.contains(where: isFault) { return Self.faultCode }
        return checks.contains { $0.result == .unreachable } ? 1 : 0
    }

    static let faultCode: Int32 = 7

    private func isFault(_ check: PinCheck) -> Bool {
        check.isFault || (isStrict && (!check.warnings.isEmpty || check.result == .unpinned))
    }

    package var text: String {
        let width = min(40, checks.map(\.title.count).max() ?? 0)
        return checks.map { check in
            var lines = [
                "\(Self.padded(check.title, to: width))  \(Self.padded(check.result.rawValue, to: 11))  \(check.finding)"
            ]
            lines += check.warnings.map { "\(String(repeating: " ", count: width))  warning      \($0.sentence)" }
            return lines.map { printable($0, limit: 4096) + "\n" }.joined()
        }.joined()
    }

    package var json: JSONText {
        .object([
            ("hosts", .array(checks.map(\.json))), ("faults", .number(checks.count(where: isFault))),
            ("unreachable", .number(checks.count { $0.result == .unreachable })),
        ])
    }

    /// JUnit XML for CI systems: one test per host; a host that cannot be reached is an error, not a failure.
    package var junit: String {
        let cases = checks.map { check in
            let inner =
                switch check.result {
                case .unreachable: "<error message=\"\(XMLText.escaped(check.sentence))\"/>"
                case .pattern: "<skipped message=\"\(XMLText.escaped(check.sentence))\"/>"
                case _ where isFault(check):
                    "<failure type=\"\(check.isFault ? check.result.rawValue : "warning")\" message=\"\(XMLText.escaped(message(of: check)))\"/>"
                default: ""
                }
            let warnings = check.warnings.map(\.sentence).joined(separator: "\n")
            let talk = warnings.isEmpty ? "" : "<system-out>\(XMLText.escaped(warnings))</system-out>"
            return
                "  <testcase classname=\"larder.pins\" name=\"\(XMLText.escaped(check.title))\">\(inner)\(talk)</testcase>\n"
        }
        let counts = [
            ("tests", checks.count), ("failures", checks.count(where: isFault)),
            ("errors", checks.count { $0.result == .unreachable }), ("skipped", checks.count { $0.result == .pattern }),
        ]
        let attributes = counts.map { " \($0)=\"\($1)\"" }.joined()
        return
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"larder pins check\"\(attributes)>\n\(cases.joined())</testsuite>\n"
    }

    private func message(of check: PinCheck) -> String {
        check.isFault ? check.sentence : check.warnings.first?.sentence ?? check.sentence
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
