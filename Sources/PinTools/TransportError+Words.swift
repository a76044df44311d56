import UpstreamTransport

extension TransportError {
    /// The reason as text, such as `connection refused`.
    package var words: String { "\(reason)".replacing("_", with: " ") }
}
