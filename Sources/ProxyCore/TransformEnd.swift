import HTTPCaching
import HTTPMessage

/// Content that was made by a rule.
package struct TransformedContent: Sendable {
    package let body: [UInt8]
    /// Tells it from other content: visible ASCII without quotes. It stands in the entity tag where the origin server has given none.
    package let digest: [UInt8]

    package init(body: [UInt8], digest: [UInt8]) {
        self.body = body
        self.digest = digest
    }
}

/// How the making of content ended.
package enum TransformEnd: Sendable {
    /// Of a body that came from the origin.
    case made(TransformedContent)
    /// Of a stored response: this one takes its place for the request.
    case variant(StoredResponse)
    case failed(TransformFault)
    /// The body could not be had.
    case broken(Fault)
    /// There was no room for it.
    case refused
}
