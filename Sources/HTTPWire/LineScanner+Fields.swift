import HTTPMessage

extension LineScanner {
    /// Reads the field lines of a head. Returns the end of the head once its empty line has arrived, otherwise `nil`.
    @inline(__always)
    mutating func readFields(
        in bytes: Span<UInt8>, into fields: inout Fields, limits: ParseLimits, allowsBlankBeforeColon: Bool
    ) throws(SectionError) -> Int? {
        // The limit on the length of the head includes the empty line.
        while let end = try endOfLine(in: bytes, lengthLimit: limits.headLength - lineStart - 2) {
            if end == lineStart { return end + 2 }
            guard fields.count < limits.fieldCount else { throw .tooManyFields }
            fields.note(
                try FieldLine(
                    parsing: lineStart, end: end, in: bytes, allowsBlankBeforeColon: allowsBlankBeforeColon))
            advance(past: end)
        }
        return nil
    }
}
