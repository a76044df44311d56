import HTTPMessage

extension FieldLine {
    /// Parses a field line that `LineScanner` accepted (RFC 9112 §5).
    ///
    /// - Parameter allowsBlankBeforeColon: true for responses: blanks between the name and the colon are then removed (RFC 9112 §5.1).
    @inline(__always)
    init(
        parsing start: Int, end: Int, in bytes: Span<UInt8>, allowsBlankBeforeColon: Bool
    ) throws(SectionError) {
        let colon = bytes.firstColon(from: start)
        var nameEnd = colon
        var known = KnownField(bytes.extracting(start..<colon))
        // A known name is a valid token. Other names, and lines without a colon, need the full check.
        if known == .other || colon >= end {
            nameEnd = bytes.endOfToken(from: start, before: end)
            if nameEnd != colon || nameEnd == start {
                let fault = Self.fault(of: start..<end, nameEnd: nameEnd, in: bytes)
                guard allowsBlankBeforeColon, fault == .blankBeforeColon else { throw .line(fault) }
                known = KnownField(bytes.extracting(start..<nameEnd))
            }
        }
        var valueStart = colon &+ 1
        var valueEnd = end
        while valueStart < valueEnd, ASCII.isBlank(bytes[valueStart]) { valueStart &+= 1 }
        while valueEnd > valueStart, ASCII.isBlank(bytes[valueEnd &- 1]) { valueEnd &-= 1 }
        self.init(
            name: Extent(offset: start, count: nameEnd &- start),
            value: Extent(offset: valueStart, count: valueEnd &- valueStart), known: known)
    }

    /// Why the line does not begin with a field name and a colon.
    private static func fault(of line: Range<Int>, nameEnd: Int, in bytes: Span<UInt8>) -> LineError {
        if nameEnd == line.upperBound { return .missingColon }
        if nameEnd == line.lowerBound {
            if ASCII.isBlank(bytes[nameEnd]) { return .obsoleteFolding }
            return bytes[nameEnd] == ASCII.colon ? .emptyFieldName : .illegalFieldName
        }
        var index = nameEnd
        while index < line.upperBound, ASCII.isBlank(bytes[index]) { index += 1 }
        if index == line.upperBound { return .missingColon }
        return index > nameEnd && bytes[index] == ASCII.colon ? .blankBeforeColon : .illegalFieldName
    }
}

extension Span<UInt8> {
    fileprivate func endOfToken(from start: Int, before end: Int) -> Int {
        var index = start
        while index < end, ASCII.isTokenCharacter(self[index]) { index += 1 }
        return index
    }
}
