import HTTPMessage

/// The facts about a request, besides its head, that rules can match.
package struct RequestFacts: Sendable {
    package var client: ClientFacts
    /// The length of the request's content in bytes; 0 if there is no content, `nil` if the head does not give the length.
    package var contentLength: UInt64?

    package init(client: ClientFacts = ClientFacts(), contentLength: UInt64? = 0) {
        self.client = client
        self.contentLength = contentLength
    }
}

/// The facts about a client that rules can match.
package struct ClientFacts: Equatable, Sendable {
    /// The client's address; `nil` if it is not known.
    package var address: IPAddress?
    /// The verified name of the client; empty if the client has none.
    package var user: [UInt8]
    /// The subject of the client's verified certificate (RFC 2253) and the certificate's alternative names; empty without a
    /// certificate.
    package var certificateNames: [[UInt8]]
    /// The name of the `larder run` that the client belongs to; empty if it belongs to none.
    package var run: [UInt8]

    package init(address: IPAddress? = nil, user: [UInt8] = [], certificateNames: [[UInt8]] = [], run: [UInt8] = []) {
        self.address = address
        self.user = user
        self.certificateNames = certificateNames
        self.run = run
    }
}
