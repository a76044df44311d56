import HTTPMessage
import ProxyCore
import UpstreamTransport

/// The facts about one request for the access log. It holds no references; its texts (URL, method, …) are passed separately as spans, see
/// `AccessTexts`.
package struct AccessRecord: Sendable {
    package var id: UInt64 = 0
    package var receivedAt = Timestamp(milliseconds: 0)
    /// The time from the end of the request's head to the end of the exchange. A short response is written only after that end.
    package var durationMicroseconds: UInt64 = 0
    package var client = IPAddress(ipv4: 0)
    package var clientPort: UInt16 = 0
    package var version: HTTPVersion = .http11
    /// The status sent to the client; 0 if the client disconnected before it was sent.
    package var status: UInt16 = 0
    /// The bytes sent to the client: heads and content, without chunk framing; for a tunnel, the bytes that it carried.
    package var bytesSent: UInt64 = 0
    /// The length of the request's body in bytes.
    package var bytesReceived: UInt64 = 0

    package var outcome: DecisionTrace.Outcome = .none
    /// Whether a rule turned the plain request into one for https.
    package var isUpgraded = false
    /// Whether a hit was served from memory, without reading the disk.
    package var isFromMemory = false
    /// Whether the settings make the cache disconnected.
    package var isOffline = false
    /// Why a stored response could or could not be used, as a word of `Cache-Status`. Empty if there was no lookup.
    package var reuse: StaticString = ""
    /// The word `stored`, or why the response was not stored. Empty if the exchange ended before this was decided.
    package var storage: StaticString = ""
    /// The result of a transform rule, and why the content was not transformed. Empty if no rule applies.
    package var transform: StaticString = ""
    package var transformReason: StaticString = ""
    /// The error, as a word of `Fault`. Empty if there was none.
    package var error: StaticString = ""
    /// A more specific reason for the error. Empty if there is none.
    package var errorDetail: StaticString = ""
    /// Why the request would have been denied, in report mode; `allowed` for other requests.
    package var wouldDeny = DenialWord.allowed
    /// The verdict of the shadow policy, if it differs from the verdict of the active policy.
    package var shadow: DenialWord?
    /// The result of CONNECT. Empty for other methods.
    package var connect: StaticString = ""
    /// Whether the client connected to the origin's address, and not to the proxy.
    package var isTransparent = false
    /// Whether the client caused the error.
    package var isClientsFault = false
    /// Why Larder cannot see the requests in a tunnel to a host that should be intercepted; otherwise `nil`.
    package var uninspected: UninspectedReason?

    /// The address that the request was sent to; `nil` if it was not forwarded.
    package var upstream: IPAddress?
    package var upstreamPort: UInt16 = 0
    package var upstreamStatus: UInt16 = 0
    package var upstreamVersion: HTTPVersion = .http11
    package var reusedConnection = false
    /// How often the body was interrupted at the origin and resumed.
    package var continuations: UInt8 = 0
    package var connectMicroseconds: UInt64 = 0
    /// The time from the beginning of the exchange with the origin to the response's first byte. It includes waiting for a connection, and
    /// connecting.
    package var firstByteMicroseconds: UInt64 = 0

    package init() {}
}
