/// The URL of an engine or of a cluster: `redis://host:port` or `rediss://host:port` (TLS). Several nodes of a cluster are separated by
/// commas; one of them is enough to find the others.
package struct EngineURL: Equatable, Sendable, CustomStringConvertible {
    package let nodes: [EngineAddress]
    package let isSecure: Bool

    package enum Fault: Error, Equatable, Sendable {
        case scheme, credentials, path, host, port, tooManyNodes
    }

    private static let defaultPort: UInt16 = 6379
    private static let nodeLimit = 64

    package init(_ text: String) throws(Fault) {
        let authority: Substring
        if text.hasPrefix("redis://") {
            (isSecure, authority) = (false, text.dropFirst(8))
        } else if text.hasPrefix("rediss://") {
            (isSecure, authority) = (true, text.dropFirst(9))
        } else {
            throw .scheme
        }
        // A password in a URL would be shown by `larder config show` and in logs.
        if authority.contains("@") { throw .credentials }
        let places = authority.hasSuffix("/") ? authority.dropLast() : authority
        if places.contains(where: { $0 == "/" || $0 == "?" || $0 == "#" }) { throw .path }
        var nodes: [EngineAddress] = []
        for place in places.split(separator: ",", omittingEmptySubsequences: false) { nodes.append(try Self.address(place)) }
        if nodes.count > Self.nodeLimit { throw .tooManyNodes }
        self.nodes = nodes
    }

    private static func address(_ place: Substring) throws(Fault) -> EngineAddress {
        let host: Substring
        var rest: Substring
        if place.first == "[" {
            guard let end = place.firstIndex(of: "]") else { throw .host }
            host = place[place.index(after: place.startIndex)..<end]
            rest = place[place.index(after: end)...]
        } else {
            host = place.prefix { $0 != ":" }
            rest = place.dropFirst(host.count)
        }
        let isName = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard !host.isEmpty, host.utf8.count <= 255, isName else { throw .host }
        if rest.isEmpty { return EngineAddress(host: String(host), port: defaultPort) }
        guard rest.removeFirst() == ":", let port = UInt16(rest), port > 0 else { throw .port }
        return EngineAddress(host: String(host), port: port)
    }

    package var description: String {
        (isSecure ? "rediss://" : "redis://") + nodes.map(\.description).joined(separator: ",")
    }
}
