import HTTPMessage

extension Status {
    /// Whether a response with this status ends with its head, even if its fields give a length (RFC 9112 §6.3, rule 1).
    package var hasNoContent: Bool { isInformational || code == 204 || code == 304 }
}
