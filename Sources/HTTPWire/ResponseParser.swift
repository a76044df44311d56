import HTTPMessage

/// Parses response heads as strictly as requests (RFC 9112 §4, §5). A head may arrive in pieces or at once.
///
/// States and moves: `statusLine` → `fields` → (head complete) `statusLine`. A thrown error is final: the connection is closed.
///
/// The resulting head can be forwarded unchanged. Blanks before colons are removed (§5.1), `Content-Length` is removed from responses
/// without content, and several equal lengths are replaced by one (RFC 9110 §8.6).
package struct ResponseParser: Sendable {
    private enum State { case statusLine, fields }

    private let limits: ParseLimits
    private var state = State.statusLine
    private var hasBegun = false
    private var scanner = LineScanner()

    package init(limits: ParseLimits = ParseLimits()) {
        self.limits = limits
    }

    /// Discards the current state; the next input starts with the first byte of another head.
    package mutating func reset() {
        state = .statusLine
        hasBegun = false
        scanner = LineScanner()
    }

    /// Continues parsing a head. `input` holds everything received so far, from the head's first byte on.
    ///
    /// - Returns: the length of the head in `input` once it is complete; the parser is then ready for the next head. `nil` if more
    ///   input is needed; until then the contents of `head` are undefined.
    package mutating func parse(_ input: RawSpan, into head: inout ResponseHead) throws(ResponseParseError) -> Int? {
        let bytes = Span<UInt8>(_bytes: input)
        if !hasBegun {
            head.removeAll()
            hasBegun = true
        }
        if state == .statusLine {
            // A line that does not begin with `HTTP/` is rejected at once, since other protocols may never send a line end.
            guard bytes.extracting(first: 5).isPrefix(of: "HTTP/") else { throw .notHTTP }
            guard let end = try endOfStatusLine(in: bytes) else { return nil }
            try readStatusLine(end: end, in: bytes, into: &head)
            scanner.advance(past: end)
            state = .fields
        }
        guard let end = try readFields(in: bytes, into: &head.fields) else { return nil }
        head.fields.appendBytes(bytes.extracting(0..<end))
        Self.settleContentLength(of: &head)
        reset()
        return end
    }

    // MARK: Lines

    private mutating func endOfStatusLine(in bytes: Span<UInt8>) throws(ResponseParseError) -> Int? {
        do throws(SectionError) {
            return try scanner.endOfLine(in: bytes, lengthLimit: limits.statusLineLength)
        } catch {
            throw Self.error(for: error, tooLong: .statusLineTooLong)
        }
    }

    /// RFC 9112 §4 requires a space after the status code. If there is no reason phrase, the space may be missing too: some origins
    /// omit both.
    private func readStatusLine(
        end: Int, in bytes: Span<UInt8>, into head: inout ResponseHead
    ) throws(ResponseParseError) {
        guard end >= 12, let version = HTTPVersion(parsing: 0, in: bytes) else { throw .malformedStatusLine }
        guard version.major == 1 else { throw .unsupportedVersion }
        guard bytes[8] == ASCII.space, end == 12 || bytes[12] == ASCII.space else { throw .malformedStatusLine }
        var code: UInt16 = 0
        for index in 9..<12 {
            guard ASCII.isDigit(bytes[index]) else { throw .malformedStatusLine }
            code = code * 10 + UInt16(bytes[index] - 0x30)
        }
        guard code >= 100 else { throw .malformedStatusLine }
        head.version = version
        head.status = Status(code)
        head.reason = Extent(min(13, end)..<end)
    }

    private mutating func readFields(in bytes: Span<UInt8>, into fields: inout Fields) throws(ResponseParseError) -> Int? {
        var scanner = self.scanner
        defer { self.scanner = scanner }
        do throws(SectionError) {
            return try scanner.readFields(in: bytes, into: &fields, limits: limits, allowsBlankBeforeColon: true)
        } catch {
            throw Self.error(for: error, tooLong: .headTooLarge)
        }
    }

    private static func error(for fault: SectionError, tooLong: ResponseParseError) -> ResponseParseError {
        switch fault {
        case .tooLong: tooLong
        case .tooManyFields: .tooManyFields
        case .line(let fault): .line(fault)
        }
    }

    // MARK: Content-Length

    /// Removes Content-Length from a response that cannot have content, and replaces several equal lengths by one. Other lengths stay,
    /// and `BodyFraming.ofResponse` rejects them.
    private static func settleContentLength(of head: inout ResponseHead) {
        guard let line = head.fields.first(.contentLength) else { return }
        if head.status.hasNoContent {
            head.fields.remove(.contentLength)
            return
        }
        guard let digits = repeatedLength(of: head.fields, first: line) else { return }
        head.fields.remove(.contentLength)
        head.fields.note(FieldLine(name: line.name, value: digits, known: .contentLength))
    }

    /// The position of the first of several equal lengths; `nil` if there is only one length, or if the lengths differ.
    private static func repeatedLength(of fields: Fields, first line: FieldLine) -> Extent? {
        guard ContentLength.single(in: fields) == nil, case .length = ContentLength.combined(in: fields) else { return nil }
        var elements = ListElements()
        guard let first = elements.next(in: fields.value(of: line)) else { return nil }
        return Extent(offset: Int(line.value.offset) + first.lowerBound, count: first.count)
    }
}

extension Span<UInt8> {
    /// Whether `text` starts with these bytes. True for an empty span.
    fileprivate func isPrefix(of text: StaticString) -> Bool {
        for index in 0..<count where self[index] != text.utf8Start[index] { return false }
        return true
    }
}
