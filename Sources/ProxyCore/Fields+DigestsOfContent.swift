import HTTPMessage

extension Fields {
    /// Takes away what tells of the content of another message: of the whole, where a part is sent (RFC 9530 §2). Digests of the
    /// representation (`Repr-Digest`) stay true.
    mutating func removeDigestsOfContent() {
        remove { fields, line in
            line.known == .other
                && Self.contentDigests.contains { fields.name(of: line).equalsIgnoringCase($0) }
        }
    }

    private static let contentDigests: [StaticString] = ["content-digest", "content-md5"]
}
