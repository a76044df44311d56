import HTTPMessage
import ServerTrust

/// A request for which a recording is looked for, or one that is being recorded.
package struct RequestToMatch: Sendable {
    package enum Body: Sendable {
        case none
        /// All of it, as it came; `SnapshotLimits.requestBodyLength` bytes at most.
        case octets([UInt8])
        /// What a longer one comes to, and how many bytes it has.
        case digest(SHA256Digest, length: UInt64)
    }

    package var method: [UInt8]
    /// The target URI in the spelling of `CacheKey`.
    package var uri: [UInt8]
    package var fields: Fields
    package var body: Body

    package init(method: [UInt8], uri: [UInt8], fields: Fields, body: Body = .none) {
        self.method = method
        self.uri = uri
        self.fields = fields
        self.body = body
    }
}
