/// The destinations that a command can reach in its own network namespace.
package enum NetworkReach: String, CaseIterable, Sendable {
    /// Only Larder's listener.
    case listener
    /// Larder's listener; every name resolves to its address.
    case names
    /// Larder, at each address: its listener, the ports of http and https, and its name server.
    case everywhere
}
