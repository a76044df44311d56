import HTTPMessage

extension Vary {
    /// The request fields in a canonical form: each has a name in lower case and a value, which is `nil` if the request had no such
    /// field. Entries that rules added to the key are included, under names that the response's Vary does not have.
    /// - Returns: `nil` for a damaged form.
    package static func nominated(in canonicalForm: [UInt8]) -> [(name: [UInt8], value: [UInt8]?)]? {
        var lines: [(name: [UInt8], value: [UInt8]?)] = []
        let form = canonicalForm.span
        var index = 0
        while index < form.count {
            let nameEnd = index + 1 + Int(form[index])
            guard form.count - nameEnd >= 2 else { return nil }
            let name = Array(canonicalForm[index + 1..<nameEnd])
            let count = Int(form.littleEndian(at: nameEnd) as UInt16)
            index = nameEnd + 2
            if count == absent {
                lines.append((name, nil))
                continue
            }
            guard form.count - index >= count else { return nil }
            lines.append((name, Array(canonicalForm[index..<index + count])))
            index += count
        }
        return lines
    }
}
