import HTTPSerialization

extension FuzzTarget {
    /// The value of a digest's field: what is understood is written and read the same, and a content matches it only where its own digest is the
    /// one that is written.
    package static let digests = FuzzTarget("Digests") { octets in
        let value = String(decoding: octets, as: UTF8.self)
        if let digest = ContentDigest(value), DigestField(parsing: ["\(digest)"])?.digests != [digest] {
            return "digits written are another"
        }
        guard let field = DigestField(parsing: [value]) else { return nil }
        if !field.digests.isEmpty {
            guard DigestField(parsing: ["\(field)"])?.digests == field.digests else { return "a field written is another" }
        }
        let own = DigestField(of: octets, by: field.digests.map(\.algorithm))
        return (field.verdict(on: octets) == .matches) == (!own.digests.isEmpty && own.digests == field.digests)
            ? nil : "another verdict"
    }
}
