import HTTPCaching
import HTTPMessage
import HTTPSerialization
import HTTPWire

/// A request with everything that the session adds to it: what goes to one origin, once. Redirects, tries and answers to challenges
/// change it and send it again.
struct PreparedRequest: Sendable {
    var method: HTTPMethod
    var uri: TargetURI
    var fields: HTTPFields
    var body: RequestBody
    let priority: HTTPRequest.Priority
    let timeouts: SessionTimeouts
    let cachePolicy: CachePolicy
    /// Whether content codings are the session's affair.
    let decodesContent: Bool
    /// What was asked for, for errors.
    let subject: String

    init(_ request: HTTPRequest, _ configuration: SessionConfiguration) throws(SessionError) {
        subject = "\(request.method) \(request.target.prefix { $0 != "?" && $0 != "#" })"
        method = request.method
        priority = request.priority
        timeouts = request.timeouts ?? configuration.timeouts
        body = request.body
        cachePolicy = request.cachePolicy ?? configuration.cachePolicy
        fields = configuration.defaultFields
        fields.override(with: request.fields)
        decodesContent = configuration.decodesContent && !fields.contains(.acceptEncoding) && !fields.contains(.range)
        if decodesContent { fields["Accept-Encoding"] = ContentDecoder.acceptEncoding }
        do throws(TargetURI.Fault) {
            if let base = configuration.base {
                uri = try base.asBase.resolving(request.target)
            } else {
                uri = try TargetURI(request.target)
            }
        } catch {
            var failure = SessionError(.badURL, "\(error)")
            failure.request = subject
            throw failure
        }
    }

    /// As the caller would write it.
    var described: HTTPRequest {
        var request = HTTPRequest(method, uri.description, fields: fields, body: body)
        request.priority = priority
        request.timeouts = timeouts
        request.cachePolicy = cachePolicy
        return request
    }

    /// The framing of the content, and what of it is sent along with the head.
    struct Content {
        let framing: BodyFraming
        let octets: [UInt8]
        /// What is sent piece by piece.
        let source: ContentSource?
    }

    /// The head as it is sent.
    func head(_ framing: BodyFraming) throws(SessionError) -> [UInt8] {
        try checkFields()
        var head: [UInt8] = []
        head.reserveCapacity(fields.fields.bytes.count + 4 * fields.count + 128)
        head += Array(method.name.utf8)
        head.append(ASCII.space)
        head += Array(uri.originForm.utf8)
        head.append(" HTTP/1.1\r\n")
        if !fields.contains(.host) {
            head.append("Host: ")
            head += Array(uri.authority.utf8)
            head.append("\r\n")
        }
        for line in fields.fields.lines { fields.fields.write(line, into: &head) }
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

    /// Fields that say how the message and the connection are framed are the session's.
    private static let ownFields: [KnownField] = [
        .connection, .contentLength, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade, .http2Settings,
    ]

    private func checkFields() throws(SessionError) {
        let fields = fields.fields
        for line in fields.lines {
            let name = fields.name(of: line)
            var isToken = name.count > 0
            for index in 0..<name.count where !ASCII.isTokenCharacter(name[index]) { isToken = false }
            if !isToken { throw malformed("a field's name is none") }
            let value = fields.value(of: line)
            for index in 0..<value.count where !ASCII.isFieldValueCharacter(value[index]) {
                throw malformed("the value of \(fields.text(of: line.name)) holds a control character")
            }
            if Self.ownFields.contains(line.known) { throw malformed("\(fields.text(of: line.name)) is the session's own") }
        }
        if fields.lineCount(of: .host) > 1 { throw malformed("two Host fields") }
    }

    private func malformed(_ detail: String) -> SessionError { SessionError(.malformedRequest, detail) }
}

extension TargetURI {
    /// With a slash at the end of its path, so that relative references go below it (as AFNetworking has it).
    fileprivate var asBase: TargetURI {
        if path.utf8.last == ASCII.slash { return self }
        // A path of a URI with a slash behind it is one, too.
        return (try? TargetURI("\(scheme)://\(authority)\(path)/")) ?? self
    }
}
