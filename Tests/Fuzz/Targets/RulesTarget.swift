import HTTPMessage
import HTTPWire
import ProxyPolicy

extension FuzzTarget {
    /// Any tree of settings is refused with reasons or is a list of rules that matches the same whenever it is asked, and
    /// whose edits leave a request as whole as it was.
    package static let rules = FuzzTarget("Rules") { octets in
        let node = SettingsTree.node(from: octets)
        do throws(SettingsProblems) {
            return check(try PolicyRuleSet(parsing: node))
        } catch {
            return check(error)
        }
    }

    private static func check(_ problems: SettingsProblems) -> String? {
        if problems.all.isEmpty { return "refused without a reason" }
        for problem in problems.all {
            let line = problem.rendered(file: "f")
            if line.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "a message holds a control" }
            if problem.line < 1 || problem.column < 1 { return "a problem stands nowhere" }
        }
        return nil
    }

    private static func check(_ rules: PolicyRuleSet) -> String? {
        var matched = MatchedRules()
        for line in requestLines {
            guard var head = head(line) else { return "the request is not read" }
            let verdict = rules.match(head, into: &matched)
            let names = (0..<matched.count).map { matched[$0].name }
            if (verdict == .deny) != (matched.denyingRule != nil) { return "denied by nobody, or allowed by who denies" }
            guard rules.match(head, into: &matched) == verdict, (0..<matched.count).map({ matched[$0].name }) == names else {
                return "matches another way the second time"
            }
            guard verdict.isAllowed else { continue }
            let before = framing(of: head.fields)
            matched.editRequest(&head.fields)
            if framing(of: head.fields) != before { return "an edit reached a field that it may not" }
            if let fault = faultOfWrittenFields(head.fields) { return fault }
        }
        return nil
    }

    private static let requestLines = [
        "GET http://a.example/", "GET http://www.a.example:8080/a/%61/../b?c", "CONNECT a.example:443", "OPTIONS *",
        "POST http://[::ffff:10.0.0.1]/a//b/c.js", "GET https://10.0.0.1/",
    ]

    private static func head(_ line: String) -> RequestHead? {
        let octets = Array("\(line) HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\nAccept: */*\r\n\r\n".utf8)
        var head = RequestHead()
        var parser = RequestParser()
        guard let length = try? parser.parse(octets.span.bytes, into: &head), length == octets.count else { return nil }
        return head
    }

    private static func framing(of fields: Fields) -> [String?] {
        [KnownField.host, .contentLength, .transferEncoding, .connection, .via].map { fields.combinedValue(of: $0) }
    }

    /// T16: what the fields are written as is read as the same number of fields.
    private static func faultOfWrittenFields(_ fields: Fields) -> String? {
        var octets = Array("GET http://a.example/ HTTP/1.1\r\n".utf8)
        for line in fields.lines { fields.write(line, into: &octets) }
        octets += Array("\r\n".utf8)
        var limits = ParseLimits()
        limits.headLength = 1 << 24
        limits.fieldCount = 1 << 16
        var head = RequestHead()
        var parser = RequestParser(limits: limits)
        guard (try? parser.parse(octets.span.bytes, into: &head)) == octets.count else {
            return "edited fields are not read again"
        }
        return head.fields.lines.count == fields.lines.count ? nil : "edited fields are read as another number of them"
    }
}
