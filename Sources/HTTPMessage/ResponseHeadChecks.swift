/// Checks that need nothing but a response's head: its media type, then its status.
package struct ResponseHeadChecks: Equatable, Sendable {
    /// Empty: any status is accepted.
    package var statuses: [StatusRange] = []
    /// Empty: any media type is accepted, and none too.
    package var contentTypes: [MediaTypePattern] = []

    package init(statuses: [StatusRange] = [], contentTypes: [MediaTypePattern] = []) {
        self.statuses = statuses
        self.contentTypes = contentTypes
    }

    package var isEmpty: Bool { statuses.isEmpty && contentTypes.isEmpty }

    /// - Parameter hasBody: whether at least one byte of content comes. Only the framing and, where that gives no
    ///   length, the first byte can say; while it is not known, `true` judges as if one came.
    package func faults(of head: borrowing ResponseHead, to method: Method, hasBody: Bool) -> ValidationFaults {
        var faults = ValidationFaults()
        if !accepts(contentTypeOf: head, to: method, hasBody: hasBody) { faults.insert(.unacceptableContentType) }
        if !accepts(head.status) { faults.insert(.unacceptableStatus) }
        return faults
    }

    private func accepts(_ status: Status) -> Bool {
        statuses.isEmpty || statuses.contains { $0.contains(status) }
    }

    /// A response without content has nothing that could be of the wrong type: HEAD, 204 and 304 never have any
    /// (RFC 9110 §6.4.1), 205 and the others only where none comes.
    private func accepts(contentTypeOf head: borrowing ResponseHead, to method: Method, hasBody: Bool) -> Bool {
        let neverHasContent = method == .head || head.status.code == 204 || head.status.code == 304
        if contentTypes.isEmpty || neverHasContent || !hasBody { return true }
        // Two types that differ could be read either way by different clients, so each line has to be accepted.
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
