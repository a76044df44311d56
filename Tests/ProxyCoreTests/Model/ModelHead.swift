/// The fields of a head in the model: names in lower case, values unchanged, in order.
struct ModelFields: Equatable {
    struct Line: Equatable {
        let name: String
        let value: String
    }

    var lines: [Line] = []

    init() {}

    /// - Parameter text: Lines as they are sent, `Name: value`.
    init(_ text: [String]) {
        for line in text {
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            let value = ModelText.trimmed(line[colon...].dropFirst())
            lines.append(Line(name: line[..<colon].lowercased(), value: value))
        }
    }

    /// Appends the lines in the form in which they are sent.
    var text: [String] { lines.map { "\($0.name): \($0.value)" } }

    func values(_ name: String) -> [String] {
        var values: [String] = []
        for line in lines where line.name == name { values.append(line.value) }
        return values
    }

    func has(_ name: String) -> Bool { lines.contains { $0.name == name } }

    /// The value, if there is exactly one line with this name.
    func single(_ name: String) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }

    mutating func remove(_ name: String) { lines.removeAll { $0.name == name } }

    /// RFC 9110 §7.6.1: Connection, the fields that it lists, and the known hop-by-hop fields.
    func withoutHopByHop() -> ModelFields {
        var removed: Set<String> = [
            "connection", "keep-alive", "te", "transfer-encoding", "upgrade", "proxy-connection", "proxy-authenticate",
            "proxy-authentication-info", "proxy-authorization",
        ]
        for value in values("connection") {
            for option in ModelText.members(value) { removed.insert(option.lowercased()) }
        }
        var kept = self
        kept.lines.removeAll { removed.contains($0.name) }
        return kept
    }
}

struct ModelRequest: Equatable {
    let method: String
    /// `http://a.example/1`, in a form in which equal targets have equal texts.
    let url: String
    var fields: ModelFields { didSet { directives = ModelDirectives(fields) } }
    private(set) var directives: ModelDirectives

    init(method: String, url: String, fields: ModelFields) {
        self.method = method
        self.url = url
        self.fields = fields
        directives = ModelDirectives(fields)
    }

    /// RFC 9110 §9.2.1; an unknown method may be unsafe (RFC 9111 §4.4).
    var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }
}

struct ModelResponse: Equatable {
    let status: Int
    var fields: ModelFields { didSet { directives = ModelDirectives(fields) } }
    private(set) var directives: ModelDirectives

    init(status: Int, fields: ModelFields) {
        self.status = status
        self.fields = fields
        directives = ModelDirectives(fields)
    }

    var entityTag: String? { fields.single("etag") }
    /// `nil` if there is none or it is not a valid date: "an invalid Last-Modified is no validator".
    var lastModified: Int? { fields.single("last-modified").flatMap { ModelDate.seconds($0) } }
}

/// A response in the model's store, with its metadata.
struct ModelStored: Equatable {
    var request: ModelRequest
    var response: ModelResponse
    var requestTime: Int
    var responseTime: Int
    /// The nominated names; or the names that were assumed to be nominated because of responses stored earlier (RFC 9111 §4.1).
    var variesBy: [String] = []

    /// Identifies the body.
    var body: String { response.fields.single("x-body") ?? "none" }
}

/// Lists and white space (RFC 9110 §5.6), in the simplest way.
enum ModelText {
    static func trimmed(_ text: some StringProtocol) -> String {
        var bytes = Array(text.utf8)[...]
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The members of a comma-separated list, without empty ones; commas in quoted strings do not separate.
    static func members(_ text: String) -> [String] {
        var members: [String] = []
        var member: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in text.utf8 {
            if byte == UInt8(ascii: ","), !isQuoted {
                members.append(trimmed(String(decoding: member, as: UTF8.self)))
                member = []
                continue
            }
            member.append(byte)
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
        }
        members.append(trimmed(String(decoding: member, as: UTF8.self)))
        return members.filter { !$0.isEmpty }
    }

    /// The content of a quoted string; any other text unchanged (RFC 9111 §5.2: "recipients ought to accept both forms").
    static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }

    /// RFC 9111 §1.2.2: `delta-seconds = 1*DIGIT`; greater values count as 2147483648.
    static func deltaSeconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return min(Int(text) ?? 2_147_483_648, 2_147_483_648)
    }
}
