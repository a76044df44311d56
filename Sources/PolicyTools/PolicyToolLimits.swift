/// Limits of the tools that check, compare, test, import and learn policies.
package enum PolicyToolLimits {
    /// The maximum number of tests in one settings file.
    package static let tests = 10_000
    /// The maximum length of the request of a test, in bytes of UTF-8.
    package static let requestLength = 8192
    /// The maximum number of changes that a comparison lists.
    package static let changes = 1000
    /// The maximum number of changes that a reload prints.
    package static let reloadChanges = 20
    /// The maximum number of steps of a comparison, for both policies together. A step takes well below a microsecond. Rules that need more
    /// steps are not compared.
    package static let comparisonSteps = 60_000_000
    /// The maximum number of steps of a search for rules without effect, counted like `comparisonSteps`. Rules that need more steps are
    /// not checked.
    package static let checkSteps = 16_000_000
    /// The maximum number of steps of the comparison at a reload, counted like `comparisonSteps`.
    package static let reloadSteps = 4_000_000
    /// The maximum number of different keys, other than host, port, scheme, path and method, in the rules for one kind of request. Each
    /// additional key doubles the work.
    package static let opaqueWords = 5
    /// The maximum number of groups in a report of the requests that would be denied.
    static let denialGroups = 500
    /// The maximum length of a file to import, in bytes.
    package static let importLength = 1 << 20
    /// The maximum number of rules that an import writes.
    static let importedRules = 5000
    /// The maximum size of the rules that an import writes, in bytes. A settings file has at most 1 MiB.
    static let importedLength = 900 << 10
    /// The maximum number of steps of a search for lines of a squid.conf that Larder denies although squid allows them, counted like
    /// `comparisonSteps`.
    static let importSteps = 4_000_000
}
