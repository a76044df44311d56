/// Why what is declared as a secret, or a pattern, cannot be used.
package enum SecretScanningError: Error, Sendable, Equatable {
    /// A pattern is malformed.
    case malformed(String)
    /// There are more of something than the limit.
    case tooLarge(String)
}
