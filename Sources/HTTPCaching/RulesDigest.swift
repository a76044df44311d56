/// Identifies the rules that decide under which URI a response is stored: SHA-256 of their text. With a weaker hash, a client
/// could find two sets of rules with the same digest. Requests under the first set would then get responses stored under the
/// second set.
package enum RulesDigest {
    /// - Parameter texts: one text per rule, in order.
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
