import HTTPMessage

/// A media type in a validation: `application/json`, `image/*`, `*/*+json`, `*/*`. Compared without regard to case and parameters.
public struct MediaTypeRange: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let pattern: MediaTypePattern

    /// - Returns: `nil` if the text has none of these forms.
    public init?(_ text: String) {
        guard let pattern = MediaTypePattern(text) else { return nil }
        self.pattern = pattern
    }

    /// A literal that is not a media type is a programming error.
    public init(stringLiteral text: String) {
        guard let range = MediaTypeRange(text) else { preconditionFailure("\(text) is no media type") }
        self = range
    }

    /// The text in lower case.
    public var description: String { pattern.description }
    /// Hashes the text that equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// The accepted statuses and media types of a response.
///
/// A response without content never has a wrong type. Responses to HEAD, 204 and 304 never have content (RFC 9110 §6.4.1), and
/// other empty responses are accepted with any declared type.
public struct ResponseValidation: Hashable, Sendable {
    /// The accepted statuses; if empty, every status is accepted.
    public var statuses: [ClosedRange<Int>]
    /// The accepted types; if empty, every type is accepted, and so is a missing type. Add to the list instead of replacing it, so
    /// that types added in later versions are accepted too.
    public var contentTypes: [MediaTypeRange]

    /// A validation that accepts these statuses and types; by default every type, with statuses 200 to 299.
    public init(statuses: [ClosedRange<Int>] = [200...299], contentTypes: [MediaTypeRange] = []) {
        self.statuses = statuses
        self.contentTypes = contentTypes
    }

    /// The faults of the head, the outermost first: the status, then the type.
    /// - Parameters:
    ///   - head: the head to check.
    ///   - hasBody: whether at least one byte of content arrived, or may arrive.
    public func faults(of head: ReceivedHead, hasBody: Bool) -> [ResponseFault] {
        var faults: [ResponseFault] = []
        if !statuses.isEmpty && !statuses.contains(where: { $0.contains(head.status) }) {
            let accepted = statuses.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            faults.append(ResponseFault(.unacceptableStatus, "\(head.status), not \(accepted.joined(separator: ", "))"))
        }
        if !accepts(contentTypeOf: head, hasBody: hasBody) {
            let found = head.contentTypes.isEmpty ? "none" : head.contentTypes.joined(separator: ", ")
            let accepted = contentTypes.map(\.description).joined(separator: ", ")
            faults.append(ResponseFault(.unacceptableContentType, "\(found), not \(accepted)"))
        }
        return faults
    }

    /// The value for a request's Accept field: the types except those that name only a suffix, which Accept cannot express; `nil` if
    /// no type is left.
    public var acceptField: String? {
        let names = contentTypes.map(\.description).filter { !$0.contains("*+") }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Uses the same checks as the rules of the proxy.
    func accepts(contentTypeOf head: ReceivedHead, hasBody: Bool) -> Bool {
        var response = ResponseHead()
        response.status = Status(UInt16(clamping: head.status))
        for value in head.contentTypes { response.fields.append(name: "Content-Type", value: value) }
        let checks = ResponseHeadChecks(contentTypes: contentTypes.map(\.pattern))
        return checks.faults(of: response, to: head.answersHEAD ? .head : .get, hasBody: hasBody).isEmpty
    }
}
