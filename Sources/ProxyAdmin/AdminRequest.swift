import HTTPMessage

/// A request to the admin socket, whole and within its limits.
package struct AdminRequest {
    package let head: RequestHead
    /// The path, without its query.
    package let path: String
    /// The query's parameters in their order, percent-encoding undone.
    package let parameters: [(name: String, value: String)]
    package let body: [UInt8]

    /// - Returns: `nil` where the target is none of ours: not a path, or with percent-encoding that is none.
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

    /// Text for people is wanted rather than JSON.
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
        var octets: [UInt8] = []
        var rest = text.utf8[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
            octets.append(high << 4 | low)
        }
        return String(validating: octets, as: UTF8.self)
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
