import HTTPMessage
import HTTPWire
import ProxyPolicy

/// A request on which a policy is evaluated: a method, a URL (or the authority of a CONNECT), fields, and the client.
package struct PolicyRequest: Equatable, Sendable {
    package let method: String
    package let target: String
    package let head: RequestHead
    /// The facts that rules can match besides the head: about the client, and the length of the content.
    package let facts: RequestFacts

    /// Whether the request is a PURGE. Larder does not forward a PURGE, but removes stored responses.
    var isPurge: Bool { method == "PURGE" }

    package struct Fault: Error {
        package let reason: String
    }

    /// - Parameters:
    ///   - fields: lines such as `Accept: text/html`. A Host line replaces the Host field that is made from the URL.
    ///   - client: the known facts about the client. If a rule needs another fact, a rule with `allow` does not allow the request, and a
    ///     rule with `deny` denies the request.
    package init(
        _ method: String, _ target: String, fields: [String] = [], from client: ClientFacts = ClientFacts()
    ) throws(Fault) {
        // The fragment of a URL is not part of the request.
        let sent = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init) ?? ""
        let isAbsolute = sent.utf8.starts(with: "http://".utf8) || sent.utf8.starts(with: "https://".utf8)
        guard isAbsolute || method == "CONNECT" else {
            throw Fault(reason: "`\(sent)` is not a URL that begins with http:// or https://")
        }
        var lines = ["\(method) \(sent) HTTP/1.1"]
        if !fields.contains(where: { $0.lowercased().hasPrefix("host:") }) { lines.append("Host: \(Self.authority(of: sent))") }
        lines += fields
        guard !lines.contains(where: { $0.utf8.contains { $0 == ASCII.cr || $0 == ASCII.lf } }) else {
            throw Fault(reason: "a request line or field cannot contain a line break")
        }
        let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        var head = RequestHead()
        do throws(RequestParseError) {
            var parser = RequestParser()
            guard try parser.parse(bytes.span.bytes, into: &head) == bytes.count else { throw .malformedRequestLine }
        } catch {
            throw Fault(reason: "the request is malformed: \(error.reason)")
        }
        self.method = method
        self.target = sent
        self.head = head
        facts = RequestFacts(client: client, contentLength: Self.contentLength(of: head.fields))
    }

    /// Reads a method and a URL, such as `GET https://example.com/`.
    package init(_ line: String, fields: [String] = [], from client: ClientFacts = ClientFacts()) throws(Fault) {
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw Fault(reason: "expected a method and a URL, such as GET https://example.com/") }
        try self.init(parts[0], parts[1], fields: fields, from: client)
    }

    package static func == (left: PolicyRequest, right: PolicyRequest) -> Bool {
        left.head.fields.bytes == right.head.fields.bytes && left.facts.client == right.facts.client
    }

    /// The length of the content; `nil` if the fields do not give it.
    private static func contentLength(of fields: Fields) -> UInt64? {
        if fields.contains(.transferEncoding) { return nil }
        guard fields.contains(.contentLength) else { return 0 }
        return fields.combinedValue(of: .contentLength).flatMap { UInt64($0) }
    }

    private static func authority(of target: String) -> String {
        guard let scheme = target.utf8.firstRange(of: "://".utf8) else { return target }
        return String(target[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" })
    }
}
