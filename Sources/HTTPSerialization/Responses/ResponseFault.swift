/// One thing that is wrong with a response.
public struct ResponseFault: Error, Hashable, Sendable {
    /// The words of machine-readable errors.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case malformedJSON = "malformed_json"
        case malformedXML = "malformed_xml"
        case malformedPropertyList = "malformed_plist"
        case malformedImage = "malformed_image"
        /// The bytes are no text of the charset that they are said to be in, or nobody knows that charset.
        case malformedText = "malformed_text"
        /// JSON, but not of the type that is asked for.
        case otherType = "other_type"
        /// Past a limit of the serializer: length, depth, pixels.
        case tooLarge = "body_too_large"
        /// The content's digest is another than the fields say.
        case otherDigest = "other_digest"
        /// None of several serializers takes it; the faults behind this one say why.
        case noneAccepts = "none_accepts"
        case unacceptableStatus = "unacceptable_status"
        case unacceptableContentType = "unacceptable_content_type"
    }

    /// What is wrong, as a word.
    public let code: Code
    /// What was found, and what would have been accepted. Holds nothing of the content but names and numbers.
    public let detail: String
    /// In the decoded content, in bytes from 0, where a place can be told.
    public let offset: Int?

    /// A fault that a serializer of one's own finds.
    public init(_ code: Code, _ detail: String, at offset: Int? = nil) {
        self.code = code
        self.detail = detail
        self.offset = offset
    }
}

/// A response that does not become a value, with everything that is wrong with it, from the outermost fault to the innermost: what cannot be
/// parsed stands outside a status that is not accepted, and that outside a media type.
public struct ResponseSerializationError: Error, Hashable, Sendable {
    /// At least one.
    public let faults: [ResponseFault]
    /// Of the response.
    public let status: Int

    /// The fault that names the whole.
    public var code: ResponseFault.Code { faults[0].code }

    init(faults: [ResponseFault], status: Int) {
        precondition(!faults.isEmpty, "an error without a fault")
        self.faults = faults
        self.status = status
    }
}

extension ResponseSerializationError: CustomStringConvertible {
    /// For messages.
    public var description: String {
        "\(status): " + faults.map { "\($0.code.rawValue) (\($0.detail))" }.joined(separator: ", ")
    }
}
