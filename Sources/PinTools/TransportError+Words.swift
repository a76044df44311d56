import UpstreamTransport

extension TransportError {
    /// The reason as text: `connection refused`.
    package var words: String { "\(reason)".replacing("_", with: " ") }
}
