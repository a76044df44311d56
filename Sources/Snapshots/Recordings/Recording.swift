import HTTPMessage
import ServerTrust

/// One exchange as it was recorded: a request with the response to it, or with the failure that stood in its place.
package struct Recording: Sendable {
    package var request: RecordedRequest
    /// `nil` where the exchange failed before a head came.
    package var response: RecordedResponse?
    package var failure: RecordedFailure?
    package var times: RecordedTimes
    /// Of the protocol spoken with the origin, such as `HTTP/1.1`.
    package var protocolName: [UInt8]
    /// SHA-256 of the chain's record (`ServerEvidence.record`) that stands in the file; `nil` for plain HTTP.
    package var chain: SHA256Digest?
    /// Whether secrets were put out of it, so that lengths or digests are not those that came.
    package var isRedacted = false
    /// By what it is found.
    package var identity: RequestIdentity
    /// From 1: in which run it was recorded.
    package var generation: UInt32
    /// From 0: which of the answers to equal requests of its generation, in the order of recording.
    package var position: UInt32

    package init(
        request: RecordedRequest, response: RecordedResponse?, failure: RecordedFailure? = nil, times: RecordedTimes,
        protocolName: [UInt8] = Array("HTTP/1.1".utf8), chain: SHA256Digest? = nil, identity: RequestIdentity,
        generation: UInt32 = 1, position: UInt32 = 0
    ) {
        self.request = request
        self.response = response
        self.failure = failure
        self.times = times
        self.protocolName = protocolName
        self.chain = chain
        self.identity = identity
        self.generation = generation
        self.position = position
    }
}

/// A request as it was sent to the origin, without what concerns one connection alone.
package struct RecordedRequest: Sendable {
    /// As it stood in the request line.
    package var method: [UInt8]
    /// The target URI in the spelling of `CacheKey`.
    package var uri: [UInt8]
    package var fields: Fields
    /// `nil` without a body, which is not told from an empty one.
    package var body: RecordedBody?

    package init(method: [UInt8], uri: [UInt8], fields: Fields, body: RecordedBody? = nil) {
        self.method = method
        self.uri = uri
        self.fields = fields
        self.body = body
    }
}

/// A response as it came from the origin, without what concerns one connection alone.
package struct RecordedResponse: Sendable {
    package var status: Status
    /// The reason phrase as it came; may be empty.
    package var reason: [UInt8]
    package var fields: Fields
    package var trailers: Fields
    /// The fields of each 103 (Early Hints, RFC 8297) that came before it, in order.
    package var earlyHints: [Fields]
    /// `nil` without a body, which is not told from an empty one.
    package var body: RecordedBody?

    package init(
        status: Status, reason: [UInt8] = [], fields: Fields, trailers: Fields = Fields(), earlyHints: [Fields] = [],
        body: RecordedBody? = nil
    ) {
        self.status = status
        self.reason = reason
        self.fields = fields
        self.trailers = trailers
        self.earlyHints = earlyHints
        self.body = body
    }

    /// The fields of the head, the trailers and the fields of each 103, in this order.
    var fieldParts: [Fields] { [fields, trailers] + earlyHints }
}
