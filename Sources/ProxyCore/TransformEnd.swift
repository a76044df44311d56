import HTTPCaching
import HTTPMessage

/// Content that a rule's transform made.
package struct TransformedContent: Sendable {
    package let body: [UInt8]
    /// Identifies the content: visible ASCII without quotes. The value becomes the entity tag if the origin server gave no entity tag.
    package let digest: [UInt8]

    package init(body: [UInt8], digest: [UInt8]) {
        self.body = body
        self.digest = digest
    }
}

/// How a transform ended.
package enum TransformEnd: Sendable {
    /// The transformed content of a body from the origin.
    case made(TransformedContent)
    /// The transformed response that replaces a stored response for the request.
    case variant(StoredResponse)
    case failed(TransformFault)
    /// The body could not be read.
    case broken(Fault)
    /// There was not enough memory for the transform.
    case refused
}
