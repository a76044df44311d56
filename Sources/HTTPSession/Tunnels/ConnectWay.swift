/// What CONNECT to a host gets.
package enum ConnectWay: String, CaseIterable, Sendable {
    /// Bytes go through unseen: nothing is judged but what the client judges.
    case tunnel
    /// The server is judged over a connection of our own first.
    case probe
    case deny
}
