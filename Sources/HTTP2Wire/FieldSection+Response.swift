import HTTPMessage
import HTTPWire

extension FieldSection {
    /// Moves the section into a response head.
    /// - Returns: whether the section is well-formed (RFC 9113 §8.3.2).
    mutating func takeResponse(into head: inout ResponseHead) -> Bool {
        guard !isMalformed, let status = pseudoFields.status, pseudoFields.method == nil else { return false }
        swap(&head.fields, &fields)
        addCookies(to: &head.fields)
        head.version = .http2
        head.status = Status(status)
        return true
    }

    /// Moves the section into trailers, without the fields that trailers cannot contain (RFC 9110 §6.5.1).
    /// - Returns: `nil` if there is a pseudo-header field, or a field that frames or routes the message.
    mutating func takeTrailers() -> Fields? {
        guard !isMalformed, pseudo.isEmpty else { return nil }
        for line in fields.lines where TrailerField.permission(for: line.known) == .forbidden { return nil }
        var trailers = Fields()
        swap(&trailers, &fields)
        trailers.remove { _, line in TrailerField.permission(for: line.known) != .kept }
        return trailers
    }
}
