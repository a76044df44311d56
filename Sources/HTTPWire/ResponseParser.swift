import HTTPMessage

/// Reads response heads, byte by byte or whole, as strictly as requests (RFC 9112 §4, §5).
///
/// States and moves: `statusLine` → `fields` → (head complete) `statusLine`. A thrown error is final: the connection
/// is closed.
///
/// What it gives out has no blanks before a colon (§5.1), no `Content-Length` where there is no content, and equal
/// lengths made one (RFC 9110 §8.6), so that the head may be written again as it is.
package struct ResponseParser: Sendable {
    private enum State { case statusLine, fields }

    private let limits: ParseLimits
    private var state = State.statusLine
    private var hasBegun = false
    private var scanner = LineScanner()

    package init(limits: ParseLimits = ParseLimits()) {
        self.limits = limits
    }

    /// Forgets what was read, to start with the first byte of another head.
    package mutating func reset() {
        state = .statusLine
        hasBegun = false
        scanner = LineScanner()
    }

    /// Goes on with a head of which `input` holds everything received so far, from its first byte on.
    ///
    /// - Returns: the length of the head in `input` once it is complete, and the parser is ready for the next one;
    ///   `nil` where more is needed. Until then `head` is in the making and says nothing.
    package mutating func parse(_ input: RawSpan, into head: inout ResponseHead) throws(ResponseParseError) -> Int? {
        let bytes = Span<UInt8>(_bytes: input)
        if !hasBegun {
            head.removeAll()
            hasBegun = true
        }
        if state == .statusLine {
            // Said at once, since what is not HTTP may never hold the end of a line.
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

    /// RFC 9112 §4. The space behind the status code may be missing with the reason phrase: some origins leave both out.
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

    /// Drops the length of what cannot have content, and makes equal lengths one. Other lengths stay as they are, for
    /// `BodyFraming.ofResponse` to refuse.
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

    /// Where the first of several equal lengths stands; `nil` where there is but one, or they differ.
    private static func repeatedLength(of fields: Fields, first line: FieldLine) -> Extent? {
        guard ContentLength.single(in: fields) == nil, case .length = ContentLength.combined(in: fields) else { return nil }
        var elements = ListElements()
        guard let first = elements.next(in: fields.value(of: line)) else { return nil }
        return Extent(offset: Int(line.value.offset) + first.lowerBound, count: first.count)
    }
}

extension Span<UInt8> {
    /// Whether `text` starts with these bytes, however few they are.
    fileprivate func isPrefix(of text: StaticString) -> Bool {
        for index in 0..<count where self[index] != text.utf8Start[index] { return false }
        return true
    }
}
