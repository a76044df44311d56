public import Foundation
import HTTPSerialization
public import LarderHTTP

extension SessionRequest {
    /// A request for a URL.
    public init(_ method: HTTPMethod = .get, _ url: URL, fields: SessionFields = SessionFields(), body: RequestBody = .none) {
        self.init(method, url.relativeString, fields: fields, body: body)
        if url.baseURL != nil { target = url.absoluteString }
    }

    /// A request with values as JSON.
    /// - Parameters:
    ///   - method: the method.
    ///   - url: the target.
    ///   - query: an object whose members are added to the query.
    ///   - body: the content, sent as `application/json`; `nil`: no content.
    ///   - coding: the strategies of the encoder.
    ///   - fields: the fields of the request.
    /// - Throws: `request_serialization` if a value cannot be encoded, or if the query is not an object.
    public init(
        _ method: HTTPMethod, _ url: URL, query: (any Encodable)? = nil, json body: (any Encodable)? = nil,
        coding: JSONCoding = JSONCoding(), fields: SessionFields = SessionFields()
    ) throws(SessionError) {
        self.init(method, url, fields: fields)
        do {
            if let query {
                guard case .object(let members) = try JSONValue(parsing: coding.octets(of: query)) else {
                    throw SessionError(.requestSerialization, "the parameters of a query must be an object")
                }
                target = FormEncoder(FormEncodingOptions()).appending(members, to: target)
            }
            if let body {
                self.body = .octets(try coding.octets(of: body))
                if !self.fields.contains("Content-Type") { self.fields["Content-Type"] = "application/json" }
            }
        } catch let error as SessionError {
            throw error
        } catch {
            throw SessionError(.requestSerialization, "\(error)")
        }
    }
}

extension RequestBody {
    /// Content in memory.
    public static func data(_ data: Data) -> RequestBody { .octets([UInt8](data)) }
    /// The content of a file.
    public static func file(_ url: URL) -> RequestBody { .file(path: url.path(percentEncoded: false)) }
}

extension SessionResponse {
    /// The content.
    public var data: Data { Data(body) }
    /// The URL that the response came from, after all redirects.
    public var url: URL { uri.url }
}

extension ResponseBody {
    /// All remaining content.
    /// - Throws: the errors of reading, and `body_too_large` if the content is longer than `limit`.
    public func data(atMost limit: Int) async throws(SessionError) -> Data { Data(try await collect(atMost: limit)) }
}

extension SessionError {
    /// The part of the body that arrived, if the body was collected in memory.
    public var partialData: Data { Data(partialBody) }
}

extension TargetURI {
    /// The URI of an absolute http or https URL.
    public init(_ url: URL) throws(Fault) { try self.init(url.absoluteString) }

    /// The URI as a URL.
    public var url: URL {
        guard let url = URL(string: description) else { preconditionFailure("each http URI is a URL") }
        return url
    }
}

extension DownloadDestination {
    /// Writes to this file.
    public static func file(_ url: URL, replaces: Bool = true, makesFolders: Bool = false) -> DownloadDestination {
        .file(url.path(percentEncoded: false), replaces: replaces, makesFolders: makesFolders)
    }

    /// Writes to a file in this folder, under the name that the response suggests.
    public static func folder(_ url: URL, replaces: Bool = false, makesFolders: Bool = false) -> DownloadDestination {
        .folder(url.path(percentEncoded: false), replaces: replaces, makesFolders: makesFolders)
    }
}

extension DownloadedFile {
    /// The URL of the file.
    public var url: URL { URL(filePath: path) }
}
