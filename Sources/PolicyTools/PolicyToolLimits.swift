/// Limits of the tools for policies.
package enum PolicyToolLimits {
    /// Tests in one settings file.
    package static let tests = 10_000
}
