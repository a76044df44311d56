import ProxyPolicy

/// Reads YAML's flow style (`{key: value, list: [a, "b"]}`) into settings nodes with their places, which is all that tests of rules need;
/// another module reads the YAML of files.
struct FlowSettings {
    struct Malformed: Error { let place: SettingsPlace }

    private let text: [Character]
    private var index = 0
    private var line = 1
    private var column = 1

    static func node(_ text: String) throws -> SettingsNode {
        var reader = FlowSettings(text: Array(text))
        let node = try reader.value()
        reader.skipBlanks()
        guard reader.index == reader.text.count else { throw Malformed(place: reader.place) }
        return node
    }

    private init(text: [Character]) { self.text = text }

    private var place: SettingsPlace { SettingsPlace(line: line, column: column) }
    private var next: Character? { index < text.count ? text[index] : nil }

    private mutating func advance() {
        if text[index] == "\n" {
            line += 1
            column = 1
        } else {
            column += 1
        }
        index += 1
    }

    private mutating func skipBlanks() {
        while let character = next, character == " " || character == "\n" { advance() }
    }

    private mutating func value() throws -> SettingsNode {
        skipBlanks()
        let start = place
        switch next {
        case "{": return SettingsNode(.mapping(try entries()), at: start)
        case "[": return SettingsNode(.sequence(try elements()), at: start)
        default: return SettingsNode(.scalar(try scalar(until: ",]}")), at: start)
        }
    }

    private mutating func entries() throws -> [SettingsNode.Entry] {
        var result: [SettingsNode.Entry] = []
        advance()
        skipBlanks()
        while let character = next, character != "}" {
            let start = place
            let key = try scalar(until: ":").text
            guard next == ":" else { throw Malformed(place: place) }
            advance()
            result.append(SettingsNode.Entry(key: key, at: start, value: try value()))
            skipComma()
        }
        guard next == "}" else { throw Malformed(place: place) }
        advance()
        return result
    }

    private mutating func elements() throws -> [SettingsNode] {
        var result: [SettingsNode] = []
        advance()
        skipBlanks()
        while let character = next, character != "]" {
            result.append(try value())
            skipComma()
        }
        guard next == "]" else { throw Malformed(place: place) }
        advance()
        return result
    }

    private mutating func skipComma() {
        skipBlanks()
        if next == "," { advance() }
        skipBlanks()
    }

    private mutating func scalar(until ends: String) throws -> SettingsScalar {
        if next == "\"" { return SettingsScalar(try quotedText(), isQuoted: true) }
        var result = ""
        while let character = next, !ends.contains(character) {
            result.append(character)
            advance()
        }
        while result.last == " " || result.last == "\n" { result.removeLast() }
        return SettingsScalar(result)
    }

    private mutating func quotedText() throws -> String {
        var result = ""
        advance()
        while let character = next, character != "\"" {
            if character == "\\" {
                advance()
                switch next {
                case "n": result.append("\n")
                case "r": result.append("\r")
                case "0": result.append("\0")
                case let other?: result.append(other)
                case nil: throw Malformed(place: place)
                }
            } else {
                result.append(character)
            }
            advance()
        }
        guard next == "\"" else { throw Malformed(place: place) }
        advance()
        skipBlanks()
        return result
    }
}
