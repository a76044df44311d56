/// How large the parts of a policy may be.
package enum PolicyLimits {
    package static let rules = 100_000
    /// In characters, which are visible ASCII: a rule's name stands in logs and in Cache-Status.
    package static let nameLength = 64
    /// In bytes of UTF-8.
    package static let reasonLength = 512
    package static let fieldValueLength = 8192
    /// The most variants of one key that a rule may have kept.
    package static let variants: Int64 = 1024
    package static let tags = 16
    package static let tagLength = 64
    /// Names of parameters in one list of a key's rewriting.
    package static let keyParts = 256
    package static let keyFields = 8
    package static let collapsedWaitInMilliseconds: Int64 = 600_000
    /// The largest bound that a rule may set for a body to be checked: so much stands in memory for each.
    package static let checkedBodyLength: UInt64 = 256 << 20
    /// Places that `json_pointer` removes and sets in one rule.
    package static let pointers = 256
    /// In bytes of UTF-8.
    package static let pointerLength = 1024
    /// Of a value that is set, in bytes as JSON, and how deeply values may stand in it.
    package static let jsonLength = 64 << 10, jsonDepth = 64
    /// How deeply content may be nested of which a rule has something made.
    package static let transformDepth: ClosedRange<Int64> = 1...1024
    /// How long that may take, in milliseconds.
    package static let transformTimeout: ClosedRange<Int64> = 10...600_000
}
