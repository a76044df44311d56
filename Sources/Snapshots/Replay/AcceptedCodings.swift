import HTTPMessage
import HTTPSerialization

/// The content codings that a client accepts (RFC 9110 §12.5.3).
struct AcceptedCodings {
    /// For each coding in Accept-Encoding, by its lower-case name, whether the client accepts it. `nil` without Accept-Encoding, so
    /// that all codings are accepted.
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

    /// Whether the client accepts a body in these content codings.
    /// - Parameter fields: the response's fields, which have the names of the codings.
    func permit(_ codings: ContentCodings, of fields: Fields) -> Bool {
        // Larder cannot remove unknown codings, so it sends the body unchanged.
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
