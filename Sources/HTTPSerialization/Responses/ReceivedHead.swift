import HTTPMessage

/// The parts of a response's head that serializers use.
public struct ReceivedHead: Hashable, Sendable {
    /// The status as received: usually 100 to 599. A server may send any three digits, and 600 to 999 are treated as a server error
    /// (RFC 9110 §15).
    public let status: Int
    /// The value of each Content-Type line, as received; usually one or none.
    public let contentTypes: [String]
    /// Whether the request was HEAD, so that the response has no content.
    public let answersHEAD: Bool

    /// - Parameters:
    ///   - status: the status as received. Every number is accepted, because a server chooses it.
    ///   - contentTypes: the value of each Content-Type line.
    ///   - method: the method of the request.
    public init(status: Int, contentTypes: [String], method: String = "GET") {
        self.status = status
        self.contentTypes = contentTypes
        answersHEAD = method == "HEAD"
    }

    /// A head with one Content-Type line or none.
    public init(status: Int, contentType: String? = nil, method: String = "GET") {
        self.init(status: status, contentTypes: contentType.map { [$0] } ?? [], method: method)
    }

    package init(_ head: borrowing ResponseHead, to method: Method) {
        status = Int(head.status.code)
        var contentTypes: [String] = []
        for line in head.fields.lines where line.known == .contentType { contentTypes.append(head.fields.text(of: line.value)) }
        self.contentTypes = contentTypes
        answersHEAD = method == .head
    }

    /// The value of a parameter of Content-Type, such as `charset` (RFC 9110 §8.3.2), without its quotes; `nil` if there is none.
    func parameter(_ name: StaticString) -> String? {
        guard let contentType = contentTypes.first else { return nil }
        return MediaTypeParameters.value(of: name, in: Array(contentType.utf8).span)
    }
}
