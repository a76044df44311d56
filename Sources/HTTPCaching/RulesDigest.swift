/// What tells one set of rules from another, as far as they say under which URI a response stands: SHA-256 of their text, since whoever found
/// two sets with one digest could have the other's requests served what his own brought.
package enum RulesDigest {
    /// - Parameter texts: of each rule one, in their order.
    package static func make(of texts: [[UInt8]]) -> [UInt8] {
        var digest = SHA256()
        for text in texts {
            var count: [UInt8] = []
            count.append(littleEndian: UInt64(text.count))
            digest.update(count.span)
            digest.update(text.span)
        }
        return digest.finalized()
    }
}
