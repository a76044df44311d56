import HTTPMessage

extension Vary {
    /// The names of the nominated fields that keep a stored response from being selected, in lower case (RFC 9111 §4.1). Names only:
    /// their values may be a client's secrets. The result includes entries that rules added to the key, under the names that they have
    /// in the canonical form.
    package static func mismatches(
        of canonicalForm: [UInt8], with fields: Fields, _ secondary: SecondaryKey = .none
    ) -> [String] {
        var names: [String] = []
        var index = 0
        while index < canonicalForm.count {
            let nameEnd = index + 1 + Int(canonicalForm[index])
            guard nameEnd + 2 <= canonicalForm.count else { return names }
            let count = Int(canonicalForm[nameEnd]) | Int(canonicalForm[nameEnd + 1]) << 8
            let end = min(canonicalForm.count, nameEnd + 2 + (count == 65_535 ? 0 : count))
            // The entry for each name is itself a canonical form.
            let name = canonicalForm.span.extracting(index + 1..<nameEnd)
            let isSame =
                secondary.octets(under: name).map { $0 == Array(canonicalForm[min(nameEnd + 2, end)..<end]) }
                ?? matches(Array(canonicalForm[index..<end]), fields)
            if !isSame {
                names.append(String(decoding: canonicalForm[index + 1..<nameEnd], as: UTF8.self))
            }
            index = end
        }
        return names
    }
}
