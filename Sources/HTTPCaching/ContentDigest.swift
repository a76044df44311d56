import HTTPMessage

/// What a request's content comes to as a part of the key: SHA-256, since whoever found two contents with one digest could have others
/// served the answer to his own.
package enum ContentDigest {
    /// The content together with the fields that say how it is to be read (RFC 9110 §8.3, §8.4, §8.5): the same bytes mean something
    /// else under another type.
    package static func make(of content: Span<UInt8>, describedBy fields: Fields) -> [UInt8] {
        var digest = SHA256()
        for line in fields.lines {
            let name = fields.name(of: line)
            guard line.known == .contentType || line.known == .contentEncoding || name.equalsIgnoringCase("content-language")
            else { continue }
            // No value holds a line break, so that no two sets of lines are written alike.
            var lowered: [UInt8] = []
            for index in 0..<name.count { lowered.append(ASCII.lowercased(name[index])) }
            lowered.append(ASCII.colon)
            digest.update(lowered.span)
            digest.update(fields.value(of: line))
            digest.update([0x0A].span)
        }
        digest.update([0x0A].span)
        digest.update(content)
        return digest.finalized()
    }
}
