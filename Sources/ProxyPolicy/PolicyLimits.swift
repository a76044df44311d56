/// The size limits of rules.
package enum PolicyLimits {
    package static let rules = 100_000
    /// The maximum length of a rule's name in characters. The name has only visible ASCII, because the name appears in logs and in
    /// Cache-Status.
    package static let nameLength = 64
    /// The maximum length of a rule's reason, in bytes of UTF-8.
    package static let reasonLength = 512
    package static let fieldValueLength = 8192
    /// The maximum number of variants of one key that a rule may allow.
    package static let variants: Int64 = 1024
    package static let tags = 16
    /// The maximum length of a pattern of `match`, or of a parameter's name, in bytes of UTF-8.
    package static let valueLength = 256
    /// The maximum number of names in one mapping of `match`, and of patterns for one name.
    package static let matchedNames = 16, matchedValues = 64
    package static let tagLength = 64
    /// The maximum number of parameter names in one list of `key`.
    package static let keyParts = 256
    package static let keyFields = 8
    package static let collapsedWaitInMilliseconds: Int64 = 600_000
    /// The largest value that a rule may set for the length of bodies to be checked, in bytes. Each check holds up to this much in
    /// memory.
    package static let checkedBodyLength: UInt64 = 256 << 20
    /// The maximum number of places that `json_pointer` may remove and set in one rule.
    package static let pointers = 256
    /// The maximum length of a JSON pointer, in bytes of UTF-8.
    package static let pointerLength = 1024
    /// The maximum length of a value that a rule sets, in bytes as JSON, and its maximum nesting depth.
    package static let jsonLength = 64 << 10, jsonDepth = 64
    /// The range that a rule may set for the nesting depth of content to be transformed.
    package static let transformDepth: ClosedRange<Int64> = 1...1024
    /// The range that a rule may set for the time of a transformation, in milliseconds.
    package static let transformTimeout: ClosedRange<Int64> = 10...600_000
    /// The largest numbers of requests that a rule may set as `rate` and as `requests`.
    package static let rate: UInt64 = 1_000_000, quotaOfRequests: Int64 = 1_000_000_000_000
    /// The range that a rule may set for the length of a quota's window, in milliseconds.
    package static let quotaWindow: ClosedRange<Int64> = 1_000...31_622_400_000
    /// The range that a rule may set for the time that a request waits for an approver, in milliseconds.
    package static let questionTimeout: ClosedRange<Int64> = 1_000...3_600_000
    /// The maximum number of clients, users or hosts for which one rule keeps counts.
    package static let limitSubjects = 10_000
}
