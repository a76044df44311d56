import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// The facts about the sender of a request that are known from the connection.
package struct RequestSender: Sendable {
    /// The facts about the client. The address is set for methods that `HTTPMessage` does not know, such as PURGE, and if any rule has a
    /// condition on the client.
    package internal(set) var client: ClientFacts
    /// Whether the client must send a name and a password.
    package let needsCredentials: Bool

    package init(_ client: ClientFacts = ClientFacts(), needsCredentials: Bool = false) {
        self.client = client
        self.needsCredentials = needsCredentials
    }

    /// The user name of the client, if the client was authenticated for the whole connection; otherwise empty.
    package var user: [UInt8] { client.user }
}

/// Passes a response's head into an exchange, which swaps storage with it. Nothing is copied, and one object serves any number of
/// responses.
///
/// @unchecked: only one loop uses the object.
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
