import HTTPMessage

extension Fields {
    /// The fields of a request of ours for a part of one representation: the client's, without its own conditions on the whole
    /// (RFC 9110 §13.1.5, §14.2).
    /// - Parameters:
    ///   - last: the last byte; `nil`: to the end.
    ///   - tag: the strong entity tag without which the answer is to be the whole of what there is by now.
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
