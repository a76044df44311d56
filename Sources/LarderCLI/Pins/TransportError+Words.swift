import UpstreamTransport

extension TransportError {
    /// Its reason as people write it: `connection refused`.
    var words: String { "\(reason)".replacing("_", with: " ") }
}
