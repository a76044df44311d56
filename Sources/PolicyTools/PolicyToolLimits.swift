/// Limits of the tools for policies.
package enum PolicyToolLimits {
    /// Tests in one settings file.
    package static let tests = 10_000
    /// In bytes of UTF-8: the request of a test.
    package static let requestLength = 8192
    /// The changes that a comparison lists.
    package static let changes = 1000
    /// The changes that a reload prints.
    package static let reloadChanges = 20
    /// The steps of a comparison, for both policies together; a step takes well below a microsecond. The rest is not compared.
    package static let comparisonSteps = 60_000_000
    /// As `comparisonSteps`, to find rules without effect. The rest is not checked.
    package static let checkSteps = 16_000_000
    /// As `comparisonSteps`, for a reload.
    package static let reloadSteps = 4_000_000
    /// How many different keys other than host, port, scheme, path and method the rules for one kind of request may have. Each
    /// doubles the work.
    package static let opaqueWords = 5
    /// In bytes: the longest file that is imported.
    package static let importLength = 1 << 20
    /// The rules that an import writes.
    static let importedRules = 5000
    /// In bytes: the rules that an import writes. A settings file has at most 1 MiB.
    static let importedLength = 900 << 10
    /// As `comparisonSteps`, to find lines of a squid.conf that Larder denies although squid allows them.
    static let importSteps = 4_000_000
}
