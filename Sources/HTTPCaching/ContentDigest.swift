import HTTPMessage

/// The digest of a request's content, as a part of the key. SHA-256: with a weaker hash, a client could find two contents with
/// one digest, and make Larder serve its own response to other clients.
package enum ContentDigest {
    /// The digest of the content and of the fields that describe it (RFC 9110 §8.3, §8.4, §8.5), since the same bytes have another
    /// meaning under another media type.
    package static func make(of content: Span<UInt8>, describedBy fields: Fields) -> [UInt8] {
        var digest = SHA256()
        for line in fields.lines {
            let name = fields.name(of: line)
            guard line.known == .contentType || line.known == .contentEncoding || name.equalsIgnoringCase("content-language")
            else { continue }
            // No value has a line break, so two different sets of lines cannot give the same bytes.
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
