/// A value for each of several hosts.
///
/// The most specific entry wins. The host itself comes before a pattern, and a longer pattern before a shorter one. A star for
/// one label comes before a star for any number of labels. An entry with the port comes before an entry without a port.
package struct HostTable<Value: Sendable>: Sendable {
    private var values: [HostScope: Value] = [:]

    package init() {}

    /// - Returns: `false` if the scope already has a value, which then stays.
    package mutating func insert(_ value: Value, for scope: HostScope) -> Bool {
        if values[scope] != nil { return false }
        values[scope] = value
        return true
    }

    package func value(host: String, port: UInt16) -> Value? {
        guard let identity = ReferenceIdentity(host) else { return nil }
        return value(of: identity, port: port)
    }

    package func value(of identity: ReferenceIdentity, port: UInt16) -> Value? {
        if let value = value(at: .host(identity.canonical), port: port) { return value }
        guard case .name(let name) = identity else { return nil }
        var labelCount = 0
        for dot in name.indices where name[dot] == UInt8(ascii: ".") {
            labelCount += 1
            let parent = Array(name[(dot + 1)...])
            if labelCount == 1, let value = value(at: .oneLabelBelow(parent), port: port) { return value }
            if let value = value(at: .below(parent), port: port) { return value }
        }
        return nil
    }

    private func value(at place: HostScope.Place, port: UInt16) -> Value? {
        values[HostScope(place: place, port: port)] ?? values[HostScope(place: place, port: nil)]
    }
}
