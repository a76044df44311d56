import HTTPMessage

extension Fields {
    /// The fields of Larder's request for a part of one representation: the client's fields, without conditions on the complete
    /// representation (RFC 9110 §13.1.5, §14.2).
    /// - Parameters:
    ///   - last: the position of the last byte to request; `nil` for the end of the representation.
    ///   - tag: the strong entity tag of the representation, for If-Range; if the representation has changed, the origin sends the whole
    ///     new one.
    func askingForPart(from first: UInt64, to last: UInt64?, of tag: Span<UInt8>) -> Fields {
        var fields = self
        for field in [KnownField.range, .ifRange, .ifNoneMatch, .ifModifiedSince] { fields.remove(field) }
        var range: [UInt8] = []
        range.append("bytes=")
        range.append(decimal: first)
        range.append(0x2D)
        if let last { range.append(decimal: last) }
        fields.append("Range", range.span)
        fields.append("If-Range", tag)
        return fields
    }
}
