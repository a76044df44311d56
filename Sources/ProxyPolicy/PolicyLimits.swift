/// Size limits of a policy.
package enum PolicyLimits {
    package static let rules = 100_000
    /// The length of a rule's name in characters, all visible ASCII, because the name appears in logs and in Cache-Status.
    package static let nameLength = 64
    /// The length of a rule's reason, in bytes of UTF-8.
    package static let reasonLength = 512
    package static let fieldValueLength = 8192
    /// The maximum number of variants of one key that a rule may allow.
    package static let variants: Int64 = 1024
    package static let tags = 16
    /// The length of a pattern of `match`, or of a parameter's name, in bytes of UTF-8.
    package static let valueLength = 256
    /// The number of names in one mapping of `match`, and of patterns for one name.
    package static let matchedNames = 16, matchedValues = 64
    package static let tagLength = 64
    /// The number of parameter names in one list of `key`.
    package static let keyParts = 256
    package static let keyFields = 8
    package static let collapsedWaitInMilliseconds: Int64 = 600_000
    /// The largest limit that a rule may set for bodies to be checked, in bytes: each check holds up to this much in memory.
    package static let checkedBodyLength: UInt64 = 256 << 20
    /// The number of places that `json_pointer` may remove and set in one rule.
    package static let pointers = 256
    /// The length of a JSON pointer, in bytes of UTF-8.
    package static let pointerLength = 1024
    /// The size of a value to set, in bytes as JSON, and its maximum nesting depth.
    package static let jsonLength = 64 << 10, jsonDepth = 64
    /// The allowed nesting depth of content to be transformed.
    package static let transformDepth: ClosedRange<Int64> = 1...1024
    /// The allowed time for a transformation, in milliseconds.
    package static let transformTimeout: ClosedRange<Int64> = 10...600_000
    /// The largest numbers of requests that a rule may limit, by `rate` and by `requests`.
    package static let rate: UInt64 = 1_000_000, quotaOfRequests: Int64 = 1_000_000_000_000
    /// The allowed length of a quota's window, in milliseconds.
    package static let quotaWindow: ClosedRange<Int64> = 1_000...31_622_400_000
    /// The maximum number of clients, users or hosts that one rule counts.
    package static let limitSubjects = 10_000
}
