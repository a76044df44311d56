/// Why a declaration of secrets or a pattern is invalid.
package enum SecretScanningError: Error, Sendable, Equatable {
    /// A pattern is malformed.
    case malformed(String)
    /// A limit is exceeded.
    case tooLarge(String)
}
