/// One fault of a response.
public struct ResponseFault: Error, Hashable, Sendable {
    /// The codes of machine-readable errors.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case malformedJSON = "malformed_json"
        case malformedXML = "malformed_xml"
        case malformedPropertyList = "malformed_plist"
        case malformedImage = "malformed_image"
        /// The bytes are invalid in their charset, or the charset is not supported.
        case malformedText = "malformed_text"
        /// The content is valid JSON, but not of the requested type.
        case otherType = "other_type"
        /// A limit of the serializer is exceeded: length, depth or pixels.
        case tooLarge = "body_too_large"
        /// The content's digest differs from the digest in the fields.
        case otherDigest = "other_digest"
        /// None of several serializers accepts the response; the detail lists the fault of each.
        case noneAccepts = "none_accepts"
        case unacceptableStatus = "unacceptable_status"
        case unacceptableContentType = "unacceptable_content_type"
    }

    /// The kind of fault.
    public let code: Code
    /// The problem found, and the accepted values. Of the content, it contains only names and numbers.
    public let detail: String
    /// The position in the decoded content, in bytes from 0, if it is known.
    public let offset: Int?

    /// A fault found by a custom serializer.
    public init(_ code: Code, _ detail: String, at offset: Int? = nil) {
        self.code = code
        self.detail = detail
        self.offset = offset
    }
}

/// A response could not be serialized. Lists all faults of the response from the outermost to the innermost: first malformed
/// content, then an unacceptable status, then an unacceptable media type, then well-formed content of another type.
public struct ResponseSerializationError: Error, Hashable, Sendable {
    /// The faults; at least one.
    public let faults: [ResponseFault]
    /// The status of the response.
    public let status: Int

    /// The code of the outermost fault.
    public var code: ResponseFault.Code { faults[0].code }

    package init(faults: [ResponseFault], status: Int) {
        precondition(!faults.isEmpty, "an error without a fault")
        self.faults = faults
        self.status = status
    }
}

extension ResponseSerializationError: CustomStringConvertible {
    /// The faults as text, for error messages.
    public var description: String {
        "\(status): " + faults.map { "\($0.code.rawValue) (\($0.detail))" }.joined(separator: ", ")
    }
}
