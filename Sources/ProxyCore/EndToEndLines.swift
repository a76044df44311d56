import HTTPMessage

extension Array<UInt8> {
    /// Appends all end-to-end lines of `fields`, byte for byte. Leaves out hop-by-hop lines (RFC 9110 §7.6.1) and the lines for which
    /// `isReplaced` returns `true`.
    mutating func appendEndToEndLines(
        of fields: Fields, hopByHop: HopByHop? = nil, except isReplaced: (KnownField) -> Bool
    ) {
        let hopByHop = hopByHop ?? HopByHop(of: fields)
        for line in fields.lines {
            if line.known != .other, isReplaced(line.known) { continue }
            if hopByHop.contains(line, of: fields) { continue }
            fields.write(line, into: &self)
        }
    }

    mutating func appendContentLength(_ length: UInt64) {
        append("Content-Length: ")
        append(decimal: length)
        append("\r\n")
    }
}
