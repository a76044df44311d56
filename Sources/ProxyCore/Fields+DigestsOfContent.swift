import HTTPMessage

extension Fields {
    /// Removes digests of another message's content: for example of the complete content, if a part is sent (RFC 9530 §2).
    /// Digests of the representation (`Repr-Digest`) stay valid.
    mutating func removeDigestsOfContent() {
        remove { fields, line in
            line.known == .other
                && Self.contentDigests.contains { fields.name(of: line).equalsIgnoringCase($0) }
        }
    }

    private static let contentDigests: [StaticString] = ["content-digest", "content-md5"]
}
