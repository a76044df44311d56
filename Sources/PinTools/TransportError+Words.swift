import UpstreamTransport

extension TransportError {
    /// Its reason as people write it: `connection refused`.
    package var words: String { "\(reason)".replacing("_", with: " ") }
}
