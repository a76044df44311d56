import HTTPMessage

/// Parses request heads strictly by RFC 9112. A head may arrive in pieces or at once.
///
/// States and moves: `emptyLines` → `requestLine` → `fields` → (head complete) `emptyLines`. A thrown error is final: send a response
/// and close the connection, or call `reset()`.
///
/// Each byte of a head is scanned once and copied once. The storage of `head` is reused, so that parsing does not allocate once the
/// storage is large enough.
package struct RequestParser: Sendable {
    private enum State { case emptyLines, requestLine, fields }

    private let limits: ParseLimits
    private var state = State.emptyLines
    /// The position at which the request line starts, after any empty lines.
    private var headStart = 0
    private var emptyLineCount = 0
    /// The scanner's positions are relative to `headStart`.
    private var scanner = LineScanner()

    package init(limits: ParseLimits = ParseLimits()) {
        self.limits = limits
    }

    /// Discards the current state; the next input starts with the first byte of another head.
    package mutating func reset() {
        state = .emptyLines
        headStart = 0
        emptyLineCount = 0
        scanner = LineScanner()
    }

    /// Continues parsing a head. `input` holds everything received so far, from the head's first byte on.
    ///
    /// - Parameter memory: parts of previous heads, possibly from other parsers.
    /// - Returns: the length of the head in `input` once it is complete; the parser is then ready for the next head. `nil` if more
    ///   input is needed; until then the contents of `head` are undefined.
    package mutating func parse(
        _ input: RawSpan, into head: inout RequestHead, with memory: inout RequestHeadMemory
    ) throws(RequestParseError) -> Int? {
        let octets = Span<UInt8>(_bytes: input)
        if state == .emptyLines {
            guard try skipEmptyLines(octets) else { return nil }
            head.removeAll()
            state = .requestLine
        }
        let bytes = octets.extracting(headStart..<octets.count)
        if state == .requestLine {
            guard let end = try endOfRequestLine(in: bytes) else { return nil }
            try readRequestLine(0..<end, in: bytes, into: &head, with: &memory.origin)
            scanner.advance(past: end)
            state = .fields
        }
        let known =
            head.fields.isEmpty
            ? memory.fields.restore(at: scanner.lineStart, in: bytes, into: &head.fields, limits: limits) : nil
        let read = if let known { known } else { try readFields(in: bytes, into: &head.fields, with: &memory.fields) }
        guard let end = read else { return nil }
        head.fields.appendBytes(bytes.extracting(0..<end))
        if known == nil || !memory.fields.holdsHost {
            let isRight = try checkHost(of: head)
            if isRight, known != nil { memory.fields.noteHost() }
        }
        let length = headStart + end
        reset()
        return length
    }

    package mutating func parse(_ input: RawSpan, into head: inout RequestHead) throws(RequestParseError) -> Int? {
        var nothing = RequestHeadMemory()
        return try parse(input, into: &head, with: &nothing)
    }

    // MARK: Lines

    /// RFC 9112 §2.2: an old client may send a CRLF after its content. Returns whether a request line has begun.
    private mutating func skipEmptyLines(_ octets: Span<UInt8>) throws(RequestParseError) -> Bool {
        while headStart < octets.count, octets[headStart] == ASCII.cr {
            guard headStart + 1 < octets.count else { return false }
            guard octets[headStart + 1] == ASCII.lf else { throw .line(.bareCarriageReturn) }
            headStart += 2
            emptyLineCount += 1
            guard emptyLineCount <= limits.leadingEmptyLineCount else { throw .tooManyEmptyLines }
        }
        guard headStart < octets.count else { return false }
        let first = octets[headStart]
        if first == ASCII.lf { throw .line(.bareLineFeed) }
        // A line that does not begin with a token character is rejected at once, since noise may never contain a line end.
        guard ASCII.isTokenCharacter(first) else { throw .notHTTP }
        return true
    }

    private mutating func endOfRequestLine(in bytes: Span<UInt8>) throws(RequestParseError) -> Int? {
        do throws(SectionError) {
            return try scanner.endOfLine(in: bytes, lengthLimit: limits.requestLineLength)
        } catch {
            throw Self.error(for: error, tooLong: .requestLineTooLong)
        }
    }

    /// RFC 9112 §3: three parts and exactly two spaces.
    private func readRequestLine(
        _ line: Range<Int>, in bytes: Span<UInt8>, into head: inout RequestHead, with memory: inout OriginMemory
    ) throws(RequestParseError) {
        var methodEnd = 0
        while methodEnd < line.upperBound, ASCII.isTokenCharacter(bytes[methodEnd]) { methodEnd += 1 }
        let versionStart = line.upperBound - 8
        guard methodEnd > 0, methodEnd + 2 < versionStart,
            bytes[methodEnd] == ASCII.space, bytes[versionStart - 1] == ASCII.space,
            let version = HTTPVersion(parsing: versionStart, in: bytes)
        else { throw .malformedRequestLine }
        // The version is checked before the target, so that the preface of HTTP/2 gets the error for an unsupported version.
        guard version.major == 1 else { throw .unsupportedVersion }
        head.version = version
        head.methodName = Extent(0..<methodEnd)
        head.method = Method(bytes.extracting(0..<methodEnd))
        let target = methodEnd + 1..<versionStart - 1
        head.rawTarget = Extent(target)
        do throws(RequestTargetError) {
            head.target = try RequestTarget(parsing: target, in: bytes, method: head.method, with: &memory)
        } catch {
            throw .target(error)
        }
    }

    private mutating func readFields(
        in bytes: Span<UInt8>, into fields: inout Fields, with memory: inout FieldSectionMemory
    ) throws(RequestParseError) -> Int? {
        guard fields.isEmpty else { return try readFields(in: bytes, into: &fields) }
        let start = scanner.lineStart
        guard let end = try readFields(in: bytes, into: &fields) else { return nil }
        memory.remember(start..<end, in: bytes, as: fields)
        return end
    }

    private mutating func readFields(in bytes: Span<UInt8>, into fields: inout Fields) throws(RequestParseError) -> Int? {
        var scanner = self.scanner
        defer { self.scanner = scanner }
        do throws(SectionError) {
            return try scanner.readFields(in: bytes, into: &fields, limits: limits, allowsBlankBeforeColon: false)
        } catch {
            throw Self.error(for: error, tooLong: .headTooLarge)
        }
    }

    private static func error(for fault: SectionError, tooLong: RequestParseError) -> RequestParseError {
        switch fault {
        case .tooLong: tooLong
        case .tooManyFields: .tooManyFields
        case .line(let fault): .line(fault)
        }
    }

    // MARK: Host

    /// Checks the Host field (RFC 9112 §3.2). If the target has absolute form, the field's value is ignored, but there must be exactly
    /// one field, which is well-formed.
    ///
    /// Only CONNECT may omit the field, although RFC 9112 §3.2 requires it. The target of a CONNECT is an authority, to which a Host
    /// field adds nothing. The client lftp sends such requests, and other proxies open the tunnel.
    /// - Returns: whether the Host line would be valid with any other request line too.
    private func checkHost(of head: RequestHead) throws(RequestParseError) -> Bool {
        guard let index = head.fields.index(of: .host) else {
            if head.version.isAtLeast11, head.target.form != .authority { throw .missingHost }
            return false
        }
        guard head.fields.index(of: .host, from: index + 1) == nil else { throw .repeatedHost }
        let value = head.fields.lines[index].value
        // A client sends an empty Host field if the target has no authority. But a target in origin form gets its authority from the
        // Host field.
        if value.isEmpty, head.target.form != .origin { return false }
        // Most clients repeat the target's authority in the Host field, and that authority has already been validated.
        if case .absolute = head.target.form, head.span(of: value).isSame(as: head.span(of: Self.authority(of: head.target))) {
            return true
        }
        do throws(AuthorityFault) {
            _ = try Authority(parsing: value.range, in: head.fields.bytes.span)
        } catch {
            throw .malformedHost(error)
        }
        return true
    }

    private static func authority(of target: RequestTarget) -> Extent {
        let bracket = target.hostKind == .ipv6 ? 1 : 0
        return Extent(Int(target.host.offset) - bracket..<Int(target.path.offset))
    }
}
