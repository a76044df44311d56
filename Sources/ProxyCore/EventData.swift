import HTTPCaching
import HTTPMessage

/// The sender of a request, as far as the connection identifies it.
package struct RequestSender: Sendable {
    /// Set for methods that `HTTPMessage` does not know, such as PURGE.
    package let address: IPAddress?
    /// The authenticated user name of the client, if the connection has proved it; otherwise empty.
    package internal(set) var user: [UInt8]
    /// Whether the client must send a name and a password.
    package let needsCredentials: Bool

    package init(address: IPAddress? = nil, user: [UInt8] = [], needsCredentials: Bool = false) {
        self.address = address
        self.user = user
        self.needsCredentials = needsCredentials
    }
}

/// Passes a response's head into an exchange, which swaps storage with it: nothing is copied, and one object serves any number of
/// responses.
///
/// @unchecked: only one loop uses it.
package final class ReceivedHead: @unchecked Sendable {
    package var head = ResponseHead()

    package init() {}

    package init(_ head: ResponseHead) { self.head = head }
}

/// The result of verifying a name and a password.
package enum CredentialsJudgement: Sendable {
    case accepted
    /// The name, the password or both are wrong; the client does not learn which.
    case refused
    /// The client's address has sent too many wrong credentials.
    case tooManyAttempts
    /// Too many verifications are waiting.
    case queueFull
}

/// The result of verifying a recorded certificate chain under a trust policy.
package enum ChainJudgement: Sendable {
    case accepted
    case refused(TrustRefusal)
    /// The chain could not be verified now.
    case unjudged
}
