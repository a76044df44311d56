import HTTPCaching
import HTTPMessage

/// Content that a rule's transform made.
package struct TransformedContent: Sendable {
    package let body: [UInt8]
    /// Identifies the content: visible ASCII without quotes. It becomes the entity tag if the origin server gave none.
    package let digest: [UInt8]

    package init(body: [UInt8], digest: [UInt8]) {
        self.body = body
        self.digest = digest
    }
}

/// How a transform ended.
package enum TransformEnd: Sendable {
    /// For a body from the origin.
    case made(TransformedContent)
    /// For a stored response: this variant replaces it for the request.
    case variant(StoredResponse)
    case failed(TransformFault)
    /// The body could not be read.
    case broken(Fault)
    /// There was not enough memory for it.
    case refused
}
