/// Checks that need only a response's head: of its media type, then of its status.
package struct ResponseHeadChecks: Equatable, Sendable {
    /// The accepted statuses; if empty, any status is accepted.
    package var statuses: [StatusRange] = []
    /// The accepted media types. If there are none, any media type is accepted, and so is a response without a media type.
    package var contentTypes: [MediaTypePattern] = []

    package init(statuses: [StatusRange] = [], contentTypes: [MediaTypePattern] = []) {
        self.statuses = statuses
        self.contentTypes = contentTypes
    }

    package var isEmpty: Bool { statuses.isEmpty && contentTypes.isEmpty }

    /// - Parameter hasBody: whether the content has at least one byte. The framing shows it, or the first byte that arrives if the
    ///   framing gives no length. Pass `true` as long as it is unknown.
    package func faults(of head: borrowing ResponseHead, to method: Method, hasBody: Bool) -> ValidationFaults {
        var faults = ValidationFaults()
        if !accepts(contentTypeOf: head, to: method, hasBody: hasBody) { faults.insert(.unacceptableContentType) }
        if !accepts(head.status) { faults.insert(.unacceptableStatus) }
        return faults
    }

    private func accepts(_ status: Status) -> Bool {
        statuses.isEmpty || statuses.contains { $0.contains(status) }
    }

    /// Whether the media type is accepted. A response without content cannot have a wrong media type. HEAD, 204 and 304 never have
    /// content (RFC 9110 §6.4.1). A 205 or another response is accepted for this reason only if no content arrives.
    private func accepts(contentTypeOf head: borrowing ResponseHead, to method: Method, hasBody: Bool) -> Bool {
        let neverHasContent = method == .head || head.status.code == 204 || head.status.code == 304
        if contentTypes.isEmpty || neverHasContent || !hasBody { return true }
        // If there are two Content-Type lines, clients differ in which one they read. So each line must be accepted.
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
