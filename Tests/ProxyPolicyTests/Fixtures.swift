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

/// The problems of a list of rules, as they are shown.
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

/// SplitMix64: a property test names its seed, so that a failing one can be run alone.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
