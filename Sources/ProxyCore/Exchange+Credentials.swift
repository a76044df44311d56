import HTTPMessage

/// What came of looking at a name and a password.
package enum CredentialsJudgement: Sendable {
    case accepted
    /// The name, the password or both: which of them is not told.
    case refused
    /// From where the client is too many were tried that were not good.
    case tooManyAttempts
    /// As many as may wait to be looked at.
    case queueFull
}

/// Who asks (RFC 9110 §11.7, RFC 7617): where the client has to say so, nothing else happens before it is proved.
///
///     idle ──requestHead──▶ authenticating ──accepted──▶ as from idle
///       └──none, or none that can be read─┴──refused──▶ delivering (407)
extension Exchange {
    mutating func askForCredentials(at now: Timestamp, into commands: inout CommandBuffer) {
        switch request.fields.lineCount(of: .proxyAuthorization) {
        case 0: return fail(.credentialsRequired(reason: "missing"), at: now, into: &commands)
        case 1: break
        // Which of them is meant, no two programs need agree on.
        default: return fail(.credentialsRequired(reason: "malformed"), at: now, into: &commands)
        }
        let value = request.fields.first(.proxyAuthorization)?.value ?? .empty
        guard let read = BasicCredentials(request.span(of: value)) else {
            return fail(.credentialsRequired(reason: "malformed"), at: now, into: &commands)
        }
        incoming.credentials = read
        state = .authenticating
        commands.append(.judgeCredentials)
    }

    mutating func credentialsJudged(
        _ judgement: CredentialsJudgement, at now: Timestamp, into commands: inout CommandBuffer
    ) {
        let judged = incoming.credentials
        incoming.credentials = nil
        switch judgement {
        case .accepted:
            if let judged { incoming.sender?.user = Array(judged.name) }
            receiveAdmitted(ConnectionOptions(of: request.fields), at: now, into: &commands)
        case .refused: fail(.credentialsRequired(reason: "refused"), at: now, into: &commands)
        case .tooManyAttempts: fail(.tooManyAttempts, at: now, into: &commands)
        case .queueFull: fail(.credentialsQueueFull, at: now, into: &commands)
        }
    }
}
