import HTTPMessage

extension StructuredSecrets {
    /// Searches parts by their names (RFC 7578 §4.2), and their contents by their own types. If the closing delimiter is missing, the
    /// last part extends to the end of the text.
    mutating func searchMultipart(boundary: [UInt8]) {
        let delimiter = Array("--".utf8) + boundary
        var place = next(delimiter, from: 0)
        while let start = place {
            let head = start + delimiter.count
            place = next(delimiter, from: head)
            var end = place ?? octets.count
            // The line break before a delimiter belongs to the delimiter. A truncated body may end with a line break too.
            if end > head, octets[end - 1] == ASCII.lf { end -= 1 }
            if end > head, octets[end - 1] == ASCII.cr { end -= 1 }
            searchPart(head..<end)
        }
    }

    private mutating func searchPart(_ part: Range<Int>) {
        var fields = Fields()
        var place = part.lowerBound
        while place < part.upperBound {
            let end = octets[place..<part.upperBound].firstIndex(of: ASCII.lf) ?? part.upperBound
            let line = octets[place..<end].filter { $0 != ASCII.cr }
            place = min(end + 1, part.upperBound)
            if line.isEmpty, end > part.lowerBound + 2 { break }
            if let colon = line.firstIndex(of: ASCII.colon) {
                let value = Array(line[(colon + 1)...])
                fields.append(
                    name: Array(line[..<colon]).span, value: Array(value[value.span.trimmedBounds(in: 0..<value.count)]).span)
            }
        }
        let content = place..<part.upperBound
        guard !content.isEmpty else { return }
        let disposition = fields.value(ofAllLinesNamed: Array("content-disposition".utf8)) ?? []
        if let name = LenientParameters.value(of: "name", in: disposition), let evidence = evidence(name, .form) {
            return note(content, evidence)
        }
        let kind = MediaKind(of: fields)
        guard depth < Self.depthLimit, kind != .other else { return }
        var inner = StructuredSecrets(UnsafeBufferPointer(rebasing: octets[content]), depth: depth + 1, evidence)
        inner.search(as: kind)
        for var secret in inner.found {
            secret = FoundSecret(
                range: secret.range.lowerBound + content.lowerBound..<secret.range.upperBound + content.lowerBound,
                kind: secret.kind, isPlaceholder: secret.isPlaceholder, value: secret.value, quote: secret.quote,
                evidence: secret.evidence)
            found.append(secret)
        }
    }

    private func next(_ text: [UInt8], from start: Int) -> Int? {
        var place = start
        while place + text.count <= octets.count {
            if octets[place] == text[0], octets.holds(text, at: place) { return place }
            place += 1
        }
        return nil
    }
}
