import HTTPMessage

extension FieldLine {
    /// Reads a line in which `LineScanner` has found no fault (RFC 9112 §5).
    ///
    /// - Parameter allowsBlankBeforeColon: in responses such blanks are left out of the name (RFC 9112 §5.1).
    @inline(__always)
    init(parsing line: Range<Int>, in bytes: Span<UInt8>, allowsBlankBeforeColon: Bool) throws(LineFault) {
        let start = line.lowerBound
        let end = line.upperBound
        var nameEnd = start
        while nameEnd < end, ASCII.isTokenCharacter(bytes[nameEnd]) { nameEnd += 1 }
        var colon = nameEnd
        if nameEnd == end || bytes[nameEnd] != ASCII.colon || nameEnd == start {
            let fault = Self.fault(of: line, nameEnd: nameEnd, in: bytes)
            guard allowsBlankBeforeColon, fault == .blankBeforeColon else { throw fault }
            while bytes[colon] != ASCII.colon { colon += 1 }
        }
        let value = bytes.trimmedBounds(in: colon + 1..<end)
        self.init(
            name: Extent(start..<nameEnd), value: Extent(value), known: KnownField(bytes.extracting(start..<nameEnd)))
    }

    /// Why the token at the line's start is not a field name followed by a colon.
    private static func fault(of line: Range<Int>, nameEnd: Int, in bytes: Span<UInt8>) -> LineFault {
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
