import HTTPMessage
import HTTPWire
import ProxyPolicy

/// A request as a client sends it to the proxy: `GET http://example.com/path`, and its fields.
func request(_ line: String, _ fields: [String] = []) throws -> RequestHead {
    let text = ([line + " HTTP/1.1", "Host: ignored.example"] + fields + ["", ""]).joined(separator: "\r\n")
    let bytes = Array(text.utf8)
    var head = RequestHead()
    var parser = RequestParser()
    guard try parser.parse(bytes.span.bytes, into: &head) != nil else { throw IncompleteHead() }
    return head
}

struct IncompleteHead: Error {}

func ruleSet(_ text: String) throws -> PolicyRuleSet {
    try PolicyRuleSet(parsing: try FlowSettings.node(text))
}

/// The problems of a list of rules, as they are reported.
func problems(_ text: String) throws -> [String] {
    let node = try FlowSettings.node(text)
    do throws(SettingsProblems) {
        _ = try PolicyRuleSet(parsing: node)
        return []
    } catch {
        return error.all.map { $0.rendered(file: "f") }
    }
}

func lines(_ fields: Fields) -> [String] {
    fields.lines.map { fields.text(of: $0.name) + ": " + fields.text(of: $0.value) }
}
