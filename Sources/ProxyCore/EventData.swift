import HTTPCaching
import HTTPMessage

/// Who sent the request, as far as its connection tells that.
package struct RequestSender: Sendable {
    /// Told for methods that are not known here.
    package let address: IPAddress?
    /// The name of who asks, where the connection has proved it; else empty.
    package internal(set) var user: [UInt8]
    /// Who asks has to give a name and a password.
    package let needsCredentials: Bool

    package init(address: IPAddress? = nil, user: [UInt8] = [], needsCredentials: Bool = false) {
        self.address = address
        self.user = user
        self.needsCredentials = needsCredentials
    }
}

/// A response's head on its way into an exchange, which trades its own storage for it: nothing is copied, and one of these serves any number
/// of responses.
///
/// @unchecked: it is used by one loop.
package final class ReceivedHead: @unchecked Sendable {
    package var head = ResponseHead()

    package init() {}

    package init(_ head: ResponseHead) { self.head = head }
}

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

/// What a trust policy says of a chain that was recorded with a stored response.
package enum ChainJudgement: Sendable {
    case accepted
    case refused(TrustRefusal)
    /// Nobody could judge it now.
    case unjudged
}
