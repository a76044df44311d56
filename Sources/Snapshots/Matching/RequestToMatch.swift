import HTTPMessage
import ServerTrust

/// A request that is looked up or recorded.
package struct RequestToMatch: Sendable {
    package enum Body: Sendable {
        case none
        /// The whole body as received, at most `SnapshotLimits.requestBodyLength` bytes.
        case octets([UInt8])
        /// The digest of a body that is longer than this limit, and its length in bytes.
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
