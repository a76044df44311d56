import HTTPMessage

/// A complete request to the admin socket, within its limits.
package struct AdminRequest {
    package let head: RequestHead
    /// The path, without its query.
    package let path: String
    /// The query's parameters in order, percent-decoded.
    package let parameters: [(name: String, value: String)]
    package let body: [UInt8]

    /// - Returns: `nil` if the target is not a path, or has invalid percent-encoding.
    init?(_ head: RequestHead, body: [UInt8]) {
        guard head.target.form == .origin else { return nil }
        let query = head.fields.text(of: head.target.query)
        guard let parameters = Self.parameters(of: query.dropFirst()) else { return nil }
        self.head = head
        self.path = head.fields.text(of: head.target.path)
        self.parameters = parameters
        self.body = body
    }

    /// The first parameter of this name.
    package subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// All parameters of this name.
    package func all(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }

    /// Whether the client prefers text, for people, over JSON.
    package var wantsText: Bool {
        guard let line = head.fields.first(.accept) else { return false }
        return head.fields.text(of: line.value) == "text/plain"
    }

    private static func parameters(of query: Substring) -> [(name: String, value: String)]? {
        var parameters: [(name: String, value: String)] = []
        for part in query.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(sides[0]), let value = sides.count > 1 ? decoded(sides[1]) : "" else { return nil }
            parameters.append((name, value))
        }
        return parameters
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentEncoding.decodeStrictly(Array(text.utf8).span).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
