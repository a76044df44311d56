/// Checks of a response's head alone: its media type, then its status.
package struct ResponseHeadChecks: Equatable, Sendable {
    /// The accepted statuses; if empty, any status is accepted.
    package var statuses: [StatusRange] = []
    /// The accepted media types; if empty, any media type is accepted, and a missing one too.
    package var contentTypes: [MediaTypePattern] = []

    package init(statuses: [StatusRange] = [], contentTypes: [MediaTypePattern] = []) {
        self.statuses = statuses
        self.contentTypes = contentTypes
    }

    package var isEmpty: Bool { statuses.isEmpty && contentTypes.isEmpty }

    /// - Parameter hasBody: whether the content has at least one byte. The framing decides, or the first byte if the framing gives no
    ///   length. Pass `true` while it is unknown.
    package func faults(of head: borrowing ResponseHead, to method: Method, hasBody: Bool) -> ValidationFaults {
        var faults = ValidationFaults()
        if !accepts(contentTypeOf: head, to: method, hasBody: hasBody) { faults.insert(.unacceptableContentType) }
        if !accepts(head.status) { faults.insert(.unacceptableStatus) }
        return faults
    }

    private func accepts(_ status: Status) -> Bool {
        statuses.isEmpty || statuses.contains { $0.contains(status) }
    }

    /// A response without content cannot have a wrong media type. HEAD, 204 and 304 never have content (RFC 9110 §6.4.1); 205 and other
    /// responses are exempt only if no content arrives.
    private func accepts(contentTypeOf head: borrowing ResponseHead, to method: Method, hasBody: Bool) -> Bool {
        let neverHasContent = method == .head || head.status.code == 204 || head.status.code == 304
        if contentTypes.isEmpty || neverHasContent || !hasBody { return true }
        // Clients may each read a different one of two Content-Type lines, so each line must be accepted.
        guard head.fields.contains(.contentType) else { return false }
        for line in head.fields.lines where line.known == .contentType {
            let value = head.fields.value(of: line)
            var isAccepted = false
            for pattern in contentTypes where pattern.matches(value) { isAccepted = true }
            if !isAccepted { return false }
        }
        return true
    }
}
