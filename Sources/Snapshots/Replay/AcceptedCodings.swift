import HTTPMessage
import HTTPSerialization

/// Which content codings a client takes (RFC 9110 §12.5.3).
struct AcceptedCodings {
    /// Names in lower case with whether they are taken; `nil` where the client says nothing, and takes all.
    private let named: [[UInt8]: Bool]?

    init(_ fields: Fields) {
        var named: [[UInt8]: Bool]?
        for line in fields.lines where line.known == .acceptEncoding {
            let value = fields.value(of: line)
            var elements = ListElements()
            named = named ?? [:]
            while let element = elements.next(in: value) {
                let text = element.map { ASCII.lowercased(value[$0]) }
                let parts = text.split(separator: ASCII.semicolon).map { $0.filter { !ASCII.isBlank($0) } }
                guard let name = parts.first else { continue }
                let isRefused = parts.dropFirst().contains { part in
                    part.starts(with: Array("q=0".utf8)) && !part.dropFirst(3).contains { (0x31...0x39).contains($0) }
                }
                named?[name] = !isRefused
            }
        }
        self.named = named
    }

    /// Whether a body in these codings is one that the client takes.
    /// - Parameter fields: of the response, for the names that it uses.
    func permit(_ codings: ContentCodings, of fields: Fields) -> Bool {
        // What cannot be taken off is sent as it is.
        guard case .known(let codings) = codings, !codings.isEmpty, let named else { return true }
        for line in fields.lines where line.known == .contentEncoding {
            let value = fields.value(of: line)
            var elements = ListElements()
            while let element = elements.next(in: value) {
                var name = element.map { ASCII.lowercased(value[$0]) }
                if name.starts(with: Array("x-".utf8)) { name = Array(name.dropFirst(2)) }
                if name == Array("identity".utf8) { continue }
                if !(named[name] ?? named[[UInt8(ascii: "*")]] ?? false) { return false }
            }
        }
        return true
    }
}
