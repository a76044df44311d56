import HTTPMessage
import ProxyCore
import UpstreamTransport

/// The facts about one request for the access log. Trivial; its texts (URL, method, …) go beside it as spans, see `AccessTexts`.
package struct AccessRecord: Sendable {
    package var id: UInt64 = 0
    package var receivedAt = Timestamp(milliseconds: 0)
    /// From the request's first byte to the response's last.
    package var durationMicroseconds: UInt64 = 0
    package var client = IPAddress(ipv4: 0)
    package var clientPort: UInt16 = 0
    package var version: HTTPVersion = .http11
    /// What the client was sent; 0 where it left before.
    package var status: UInt16 = 0
    /// What was sent to the client, heads and content, without the framing of chunks; of a tunnel what went through it.
    package var bytesSent: UInt64 = 0
    /// The request's body.
    package var bytesReceived: UInt64 = 0

    package var outcome: DecisionTrace.Outcome = .none
    /// By a rule the plain request was one for https.
    package var isUpgraded = false
    /// A hit that was answered from memory, without the disk.
    package var isFromMemory = false
    /// Nothing may leave, by the settings.
    package var isOffline = false
    /// Why a stored response could or could not be used, a word of `Cache-Status`. Empty where none was looked for.
    package var reuse: StaticString = ""
    /// Whether the response was kept, and why not: `stored`, or the reason. Empty where that was not asked.
    package var storage: StaticString = ""
    /// What became of the content of which a rule wants something made, and why it was not. Empty where no rule does.
    package var transform: StaticString = ""
    package var transformReason: StaticString = ""
    /// What went wrong, in the words of `Fault`. Empty where nothing did.
    package var error: StaticString = ""
    /// The finer reason, where there is one.
    package var errorDetail: StaticString = ""
    /// What CONNECT got. Empty for any other method.
    package var connect: StaticString = ""
    /// What went wrong is the request's own.
    package var isClientsFault = false
    /// Why a tunnel to a host that is to be intercepted hides its requests; `nil` for all else.
    package var uninspected: UninspectedReason?

    /// Where the request went; `nil` where it went nowhere.
    package var upstream: IPAddress?
    package var upstreamPort: UInt16 = 0
    package var upstreamStatus: UInt16 = 0
    package var reusedConnection = false
    /// How often the body broke off at the origin and was continued.
    package var continuations: UInt8 = 0
    package var connectMicroseconds: UInt64 = 0
    /// From the request sent to the response's first byte.
    package var firstByteMicroseconds: UInt64 = 0

    package init() {}
}
