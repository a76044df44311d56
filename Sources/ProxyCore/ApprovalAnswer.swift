/// Whether a request that waits for an approver may continue.
package enum ApprovalAnswer: Equatable, Sendable {
    case allowed
    /// - Parameter reason: `denied`, or why no approver answered.
    case refused(reason: StaticToken)
    /// An approver allowed the request, but the rules that became active in the meantime deny it.
    case overruled(Fault)
}
