/// The result of serializing parameters: the target and content of a request.
public struct SerializedRequest: Sendable {
    /// The URI, with the parameters in its query if the serializer encodes them there.
    public var target: String
    /// The type of the content, used if the request does not set one; `nil` without content.
    public var contentType: String?
    /// The content; `nil` for a request without content. Empty content is sent with its length (0).
    public var content: RequestContent?

    /// The result of a custom serializer.
    public init(target: String, contentType: String? = nil, content: RequestContent? = nil) {
        self.target = target
        self.contentType = contentType
        self.content = content
    }
}

/// The content of a request.
public enum RequestContent: Sendable {
    /// Content in memory.
    case octets([UInt8])
    /// A multipart form, read piece by piece while it is sent.
    case multipart(MultipartForm)

    /// The length of the content, in bytes.
    public var length: UInt64 {
        switch self {
        case .octets(let octets): UInt64(octets.count)
        case .multipart(let form): form.length
        }
    }
}

/// Why parameters cannot be serialized. The request is not sent then.
public struct RequestSerializationError: Error, Hashable, Sendable {
    /// The kind of error.
    public enum Code: String, Hashable, Sendable {
        /// The serializer cannot express these parameters.
        case inexpressible
        /// The method never has content.
        case methodWithoutContent = "method_without_content"
        /// A part's file is missing, is not a regular file, or cannot be read.
        case unreadableFile = "unreadable_file"
        /// A part's content is longer or shorter than the length given for it.
        case changedLength = "changed_length"
        /// A boundary or a field of a part is not valid.
        case malformedPart = "malformed_part"
    }

    /// The kind of error.
    public let code: Code
    /// The file, name or method concerned.
    public let subject: String

    /// An error of a custom serializer.
    public init(_ code: Code, _ subject: String) {
        self.code = code
        self.subject = subject
    }
}

/// Serializes parameters into requests.
public protocol RequestSerializer<Parameters>: Sendable {
    /// The type of the parameters.
    associatedtype Parameters

    /// - Parameters:
    ///   - parameters: the parameters; `nil` if there are none.
    ///   - method: the method, compared without regard to case.
    ///   - target: a URI or a relative reference.
    func serialize(
        _ parameters: Parameters?, method: String, target: String
    ) throws(RequestSerializationError) -> SerializedRequest
}

/// Methods whose parameters are in the URI.
public struct QueryMethods: Hashable, Sendable {
    private let names: Set<String>

    /// Creates a set of these methods, compared without regard to case.
    public init(_ names: [String]) { self.names = Set(names.map { $0.uppercased() }) }

    /// GET, HEAD and DELETE.
    public static let usual = QueryMethods(["GET", "HEAD", "DELETE"])

    /// Whether the parameters of this method are in the URI.
    public func contains(_ method: String) -> Bool { names.contains(method.uppercased()) }
}
