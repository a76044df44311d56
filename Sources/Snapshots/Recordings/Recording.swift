import HTTPMessage
import ServerTrust

/// One recorded exchange: a request with its response, or with the failure that prevented one.
package struct Recording: Sendable {
    package var request: RecordedRequest
    /// The response; `nil` if the exchange failed before a response head arrived.
    package var response: RecordedResponse?
    package var failure: RecordedFailure?
    package var times: RecordedTimes
    /// The protocol of the exchange with the origin, such as `HTTP/1.1`.
    package var protocolName: [UInt8]
    /// SHA-256 of the certificate chain's record in the file (`ServerEvidence.record`); `nil` for plain HTTP.
    package var chain: SHA256Digest?
    /// Whether secrets were replaced in the recording, so that lengths or digests may differ from those of the original.
    package var isRedacted = false
    /// The identity by which requests find this recording.
    package var identity: RequestIdentity
    /// The number of the run that made this recording, counted from 1.
    package var generation: UInt32
    /// The response's position among the responses to equal requests of the same generation, counted from 0, in the order of recording.
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

/// A request as sent to the origin, without connection-specific fields.
package struct RecordedRequest: Sendable {
    /// The method, as in the request line.
    package var method: [UInt8]
    /// The target URI in the spelling of `CacheKey`.
    package var uri: [UInt8]
    package var fields: Fields
    /// The body; `nil` if there is none or it is empty.
    package var body: RecordedBody?

    package init(method: [UInt8], uri: [UInt8], fields: Fields, body: RecordedBody? = nil) {
        self.method = method
        self.uri = uri
        self.fields = fields
        self.body = body
    }
}

/// A response as received from the origin, without connection-specific fields.
package struct RecordedResponse: Sendable {
    package var status: Status
    /// The reason phrase as received; may be empty.
    package var reason: [UInt8]
    package var fields: Fields
    package var trailers: Fields
    /// The fields of each 103 (Early Hints) before this response, in order.
    package var earlyHints: [Fields]
    /// The body; `nil` if there is none or it is empty.
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

    /// The fields of the head, the trailers, and the fields of each 103, in this order.
    var fieldParts: [Fields] { [fields, trailers] + earlyHints }
}
