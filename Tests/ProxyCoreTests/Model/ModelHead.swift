/// The fields of a head as the model reads them: names in lower case, values as they came, in their order.
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

    /// The lines as they are sent.
    var text: [String] { lines.map { "\($0.name): \($0.value)" } }

    func values(_ name: String) -> [String] {
        var values: [String] = []
        for line in lines where line.name == name { values.append(line.value) }
        return values
    }

    func has(_ name: String) -> Bool { lines.contains { $0.name == name } }

    /// The value where there is one line of this name, and no other.
    func single(_ name: String) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }

    mutating func remove(_ name: String) { lines.removeAll { $0.name == name } }

    /// RFC 9110 §7.6.1: Connection, what it lists, and the fields that are known to be for one hop.
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
    /// `http://a.example/1`, in the form that makes equal targets equal texts.
    let url: String
    var fields: ModelFields { didSet { directives = ModelDirectives(fields) } }
    private(set) var directives: ModelDirectives

    init(method: String, url: String, fields: ModelFields) {
        self.method = method
        self.url = url
        self.fields = fields
        directives = ModelDirectives(fields)
    }

    /// RFC 9110 §9.2.1; a method that is not known may be unsafe (RFC 9111 §4.4).
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
    /// `nil` where there is none, or one that is no date: "an invalid Last-Modified is no validator".
    var lastModified: Int? { fields.single("last-modified").flatMap { ModelDate.seconds($0) } }
}

/// A response in the model's store, with what belongs to it.
struct ModelStored: Equatable {
    var request: ModelRequest
    var response: ModelResponse
    var requestTime: Int
    var responseTime: Int
    /// The names that it nominates, or those that it was taken to nominate beside the responses that were stored when it came
    /// (RFC 9111 §4.1).
    var variesBy: [String] = []

    /// Whose body this is.
    var body: String { response.fields.single("x-body") ?? "none" }
}

/// Lists and blanks (RFC 9110 §5.6), the plain way.
enum ModelText {
    static func trimmed(_ text: some StringProtocol) -> String {
        var bytes = Array(text.utf8)[...]
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The members of a comma-separated list, without empty ones; a comma in a quoted string separates nothing.
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

    /// A quoted string's content; anything else as it is (RFC 9111 §5.2: "recipients ought to accept both forms").
    static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }

    /// RFC 9111 §1.2.2: `delta-seconds = 1*DIGIT`; what is too large counts as 2147483648.
    static func deltaSeconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return min(Int(text) ?? 2_147_483_648, 2_147_483_648)
    }
}
