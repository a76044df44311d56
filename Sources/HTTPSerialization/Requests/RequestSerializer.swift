/// What parameters make of a request: where it goes, and what it carries.
public struct SerializedRequest: Sendable {
    /// The URI, with parameters in its query where they belong there.
    public var target: String
    /// Of the content, for a request that names no type itself; `nil` without content.
    public var contentType: String?
    /// `nil`: the request has no content and says nothing of any. Empty content is told by its length.
    public var content: RequestContent?

    /// What a serializer of one's own made.
    public init(target: String, contentType: String? = nil, content: RequestContent? = nil) {
        self.target = target
        self.contentType = contentType
        self.content = content
    }
}

/// The content of a request.
public enum RequestContent: Sendable {
    /// It is at hand.
    case octets([UInt8])
    /// Read piece by piece while it is sent.
    case multipart(MultipartForm)

    /// In bytes.
    public var length: UInt64 {
        switch self {
        case .octets(let octets): UInt64(octets.count)
        case .multipart(let form): form.length
        }
    }
}

/// Why parameters do not become a request. Nothing is sent then.
public struct RequestSerializationError: Error, Hashable, Sendable {
    /// What kind of fault it is, as a word.
    public enum Code: String, Hashable, Sendable {
        /// The parameters are of a kind that the form cannot express.
        case inexpressible
        /// The method never has content.
        case methodWithoutContent = "method_without_content"
        /// A part's file is not there, is none, or cannot be read.
        case unreadableFile = "unreadable_file"
        /// A part gave more or less than its length.
        case changedLength = "changed_length"
        /// A boundary or a field of a part is not what the grammar permits.
        case malformedPart = "malformed_part"
    }

    /// What kind of fault it is.
    public let code: Code
    /// The file, name or method concerned.
    public let subject: String

    init(_ code: Code, _ subject: String) {
        self.code = code
        self.subject = subject
    }
}

/// Makes requests out of parameters.
public protocol RequestSerializer<Parameters>: Sendable {
    /// What a request is made of.
    associatedtype Parameters

    /// - Parameters:
    ///   - parameters: `nil` where there are none.
    ///   - method: compared without regard to case.
    ///   - target: a URI or a reference to one.
    func serialize(
        _ parameters: Parameters?, method: String, target: String
    ) throws(RequestSerializationError) -> SerializedRequest
}

/// Methods whose parameters stand in the URI.
public struct QueryMethods: Hashable, Sendable {
    private let names: Set<String>

    /// Compared without regard to case.
    public init(_ names: [String]) { self.names = Set(names.map { $0.uppercased() }) }

    /// GET, HEAD and DELETE.
    public static let usual = QueryMethods(["GET", "HEAD", "DELETE"])

    /// Whether parameters of this method stand in the URI.
    public func contains(_ method: String) -> Bool { names.contains(method.uppercased()) }
}
