import HTTPMessage

extension Status {
    /// Responses that end with their head, even if their fields give a length (RFC 9112 §6.3, rule 1).
    package var hasNoContent: Bool { isInformational || code == 204 || code == 304 }
}
