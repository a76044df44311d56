import HTTPMessage

extension SessionFields {
    /// Appends the lines in the form in which they are sent.
    func writeLines(into head: inout [UInt8]) {
        for line in fields.lines { fields.write(line, into: &head) }
    }

    /// - Throws: an error if a line cannot be sent, because its name or value is invalid or the session sets the field itself.
    func checkForSending() throws(SessionError) {
        for line in fields.lines {
            guard line.known != .other || Self.isToken(fields.name(of: line)) else {
                throw Self.malformed("a field name is invalid")
            }
            let value = fields.value(of: line)
            for index in 0..<value.count where !ASCII.isFieldValueCharacter(value[index]) {
                throw Self.malformed("the value of \(fields.text(of: line.name)) contains a control character")
            }
            if Self.isOwn(line.known) {
                throw Self.malformed("the caller may not set \(fields.text(of: line.name)), because the session sets it")
            }
        }
        if fields.lineCount(of: .host) > 1 { throw Self.malformed("the request has two Host fields") }
    }

    /// Fields about the framing of the message and the connection are set by the session.
    private static func isOwn(_ field: KnownField) -> Bool {
        switch field {
        case .connection, .contentLength, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
            .http2Settings:
            true
        default: false
        }
    }

    private static func isToken(_ name: Span<UInt8>) -> Bool {
        for index in 0..<name.count where !ASCII.isTokenCharacter(name[index]) { return false }
        return name.count > 0
    }

    private static func malformed(_ detail: String) -> SessionError { SessionError(.malformedRequest, detail) }
}
