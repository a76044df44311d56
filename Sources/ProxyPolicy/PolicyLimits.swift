/// How large the parts of a policy may be.
package enum PolicyLimits {
    package static let rules = 100_000
    /// In characters, which are visible ASCII: a rule's name stands in logs and in Cache-Status.
    package static let nameLength = 64
    /// In bytes of UTF-8.
    package static let reasonLength = 512
    package static let fieldValueLength = 8192
    /// The largest bound that a rule may set for a body to be checked: so much stands in memory for each.
    package static let checkedBodyLength: UInt64 = 256 << 20
}
