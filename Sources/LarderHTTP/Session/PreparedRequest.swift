import HTTPCaching
import HTTPMessage
import HTTPSerialization
import HTTPWire
import UpstreamTransport

/// A request with all defaults of the session applied: one request to one origin. Redirects, retries and answers to challenges
/// create new requests from it.
///
/// A class, because it is passed on often and is larger than a reference.
final class PreparedRequest: Sendable {
    let method: HTTPMethod
    let uri: TargetURI
    let fields: SessionFields
    let body: RequestBody
    let priority: SessionRequest.Priority
    let timeouts: SessionTimeouts
    /// `timeouts`, converted for the transport.
    let upstreamTimeouts: UpstreamTimeouts
    let cachePolicy: CachePolicy
    /// What the request changes of the session's configuration; `nil` for nothing.
    var options: RequestOptions? { optionsBox?.options }
    private let optionsBox: RequestOptionsBox?
    /// Whether the session decodes content codings.
    let decodesContent: Bool
    /// The encoded field lines, if the request has no fields of its own.
    private let standardLines: [UInt8]?
    /// The target as the caller wrote it.
    private let target: String
    private let targetMethod: HTTPMethod

    init(_ request: SessionRequest, of session: HTTPSession) throws(SessionError) {
        target = request.target
        targetMethod = request.method
        method = request.method
        priority = request.priority
        if let own = request.timeouts {
            timeouts = own
            upstreamTimeouts = own.upstream
        } else {
            timeouts = session.configuration.timeouts
            upstreamTimeouts = session.upstreamTimeouts
        }
        body = request.body
        cachePolicy = request.cachePolicy ?? session.configuration.cachePolicy
        optionsBox = request.optionsBox
        let options = request.optionsBox?.options
        try options?.check(session.configuration)
        (fields, decodesContent) = session.standardFields.overridden(by: request.fields, decoding: options?.decodesContent)
        standardLines = request.fields.isEmpty && options?.decodesContent == nil ? session.standardFields.lines : nil
        do throws(TargetURI.Fault) {
            if let base = session.configuration.base {
                uri = try base.asBase.resolving(request.target)
            } else {
                uri = try TargetURI(request.target)
            }
        } catch {
            var failure = SessionError(.badURL, "\(error)")
            failure.request = Self.subject(request.method, request.target)
            throw failure
        }
    }

    private init(_ former: PreparedRequest, _ method: HTTPMethod, _ uri: TargetURI, _ fields: SessionFields, _ body: RequestBody)
    {
        self.method = method
        self.uri = uri
        self.fields = fields
        self.body = body
        priority = former.priority
        timeouts = former.timeouts
        upstreamTimeouts = former.upstreamTimeouts
        cachePolicy = former.cachePolicy
        optionsBox = former.optionsBox
        decodesContent = former.decodesContent
        standardLines = nil
        target = former.target
        targetMethod = former.targetMethod
    }

    /// A copy with these changes.
    func with(
        method: HTTPMethod? = nil, uri: TargetURI? = nil, fields: SessionFields, body: RequestBody? = nil
    ) -> PreparedRequest {
        PreparedRequest(self, method ?? self.method, uri ?? self.uri, fields, body ?? self.body)
    }

    /// Method and target for error descriptions.
    var subject: String { Self.subject(targetMethod, target) }

    private static func subject(_ method: HTTPMethod, _ target: String) -> String {
        "\(method) \(target.prefix { $0 != "?" && $0 != "#" })"
    }

    /// The request in the caller's form.
    var described: SessionRequest {
        var request = SessionRequest(method, uri.description, fields: fields, body: body)
        request.priority = priority
        request.timeouts = timeouts
        request.cachePolicy = cachePolicy
        request.optionsBox = optionsBox
        return request
    }

    /// The framing of the content, and the content that is sent along with the head.
    struct Content {
        let framing: BodyFraming
        let octets: [UInt8]
        /// Content that is sent piece by piece.
        let source: ContentSource?
    }

    /// The encoded head.
    func head(_ framing: BodyFraming) throws(SessionError) -> [UInt8] {
        if standardLines == nil { try fields.checkForSending() }
        var head: [UInt8] = []
        head.reserveCapacity(
            fields.fields.bytes.count + 4 * fields.count + uri.path.utf8.count + (uri.query?.utf8.count ?? 0) + 128)
        head += method.name.utf8
        head.append(ASCII.space)
        head += uri.path.utf8
        if let query = uri.query {
            head.append(ASCII.question)
            head += query.utf8
        }
        head.append(" HTTP/1.1\r\n")
        if !fields.contains(.host) {
            head.append("Host: ")
            uri.writeAuthority(into: &head)
            head.append("\r\n")
        }
        if let standardLines { head += standardLines } else { fields.writeLines(into: &head) }
        switch framing {
        case .none where method.anticipatesContent: head.append("Content-Length: 0\r\n")
        case .none, .untilClose: break
        case .length(let length):
            head.append("Content-Length: ")
            head.append(decimal: length)
            head.append("\r\n")
        case .chunked: head.append("Transfer-Encoding: chunked\r\n")
        }
        head.append("\r\n")
        return head
    }
}

extension TargetURI {
    /// The URI with a slash at the end of its path, so that relative references resolve below it (as in AFNetworking).
    fileprivate var asBase: TargetURI {
        if path.utf8.last == ASCII.slash { return self }
        // Adding a slash to a valid URI's path yields a valid URI, unless it becomes too long.
        return (try? TargetURI("\(scheme)://\(authority)\(path)/")) ?? self
    }
}
