import HTTPMessage

/// A media type as validations name it: `application/json`, `image/*`, `*/*+json`, `*/*`. Compared without regard to case and parameters.
public struct MediaTypeRange: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let pattern: MediaTypePattern

    /// - Returns: `nil` for what is none of the forms above.
    public init?(_ text: String) {
        guard let pattern = MediaTypePattern(text) else { return nil }
        self.pattern = pattern
    }

    /// Misuse: a literal that is no media type.
    public init(stringLiteral text: String) {
        guard let range = MediaTypeRange(text) else { preconditionFailure("\(text) is no media type") }
        self = range
    }

    /// As it was written, in lower case.
    public var description: String { pattern.description }
    /// By the same text by which two are equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// What a response's head has to say for its content to be of use: a status, and a media type where there is content.
///
/// A response without content is of no wrong type: what answers HEAD, 204 and 304 never have any (RFC 9110 §6.4.1), and others where none
/// comes, whatever type they declare.
public struct ResponseValidation: Hashable, Sendable {
    /// Empty: every status.
    public var statuses: [ClosedRange<Int>]
    /// Empty: every type, and none. To be added to rather than replaced, so that what comes to be accepted later is.
    public var contentTypes: [MediaTypeRange]

    /// These statuses and types; by default every type under 200 to 299.
    public init(statuses: [ClosedRange<Int>] = [200...299], contentTypes: [MediaTypeRange] = []) {
        self.statuses = statuses
        self.contentTypes = contentTypes
    }

    /// What is wrong with the head, the outermost fault first: the status, then the type.
    /// - Parameters:
    ///   - head: what is judged.
    ///   - hasBody: whether at least one byte of content came, or may come.
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

    /// For a request's Accept field: the types without those that name a suffix alone, which it cannot say; `nil` for all.
    public var acceptField: String? {
        let names = contentTypes.map(\.description).filter { !$0.contains("*+") }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// By the checks that rules of the proxy use.
    func accepts(contentTypeOf head: ReceivedHead, hasBody: Bool) -> Bool {
        var response = ResponseHead()
        response.status = Status(UInt16(clamping: head.status))
        for value in head.contentTypes { response.fields.append(name: "Content-Type", value: value) }
        let checks = ResponseHeadChecks(contentTypes: contentTypes.map(\.pattern))
        return checks.faults(of: response, to: head.answersHEAD ? .head : .get, hasBody: hasBody).isEmpty
    }
}
