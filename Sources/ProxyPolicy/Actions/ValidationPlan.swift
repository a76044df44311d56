import HTTPMessage

/// What is asked of a response, gathered from all matching rules, and what follows when it fails.
package struct ValidationPlan: Equatable, Sendable {
    /// What happens to a response that fails. None of them stores it, and none lets it replace a good one.
    package enum OnFailure: UInt8, CaseIterable, Sendable { case block, annotate, pass, stale }
    /// What happens to a body that is too large to be checked.
    package enum Oversize: UInt8, CaseIterable, Sendable { case pass, block }

    package var headChecks = ResponseHeadChecks()
    /// What the body has to be; empty: anything.
    package var wellformed: BodyKinds = []
    package var onFailure = OnFailure.annotate
    package var oversize = Oversize.pass
    /// The bound of the check in bytes, for the body as it came and for what it decodes to.
    package var maximumBodyLength: UInt64 = 8 << 20

    package init() {}

    /// Back to asking nothing; the storage of the lists stays.
    mutating func removeAll() {
        headChecks.statuses.removeAll(keepingCapacity: true)
        headChecks.contentTypes.removeAll(keepingCapacity: true)
        wellformed = []
        onFailure = .annotate
        oversize = .pass
        maximumBodyLength = 8 << 20
    }

    /// Takes over what a later rule says: its lists add to what is there, or take its place with `replace`.
    mutating func merge(_ rule: ValidationRule) {
        if let statuses = rule.statuses {
            if rule.replaces { headChecks.statuses.removeAll(keepingCapacity: true) }
            headChecks.statuses.append(contentsOf: statuses)
        }
        if let contentTypes = rule.contentTypes {
            if rule.replaces { headChecks.contentTypes.removeAll(keepingCapacity: true) }
            headChecks.contentTypes.append(contentsOf: contentTypes)
        }
        wellformed = rule.wellformed ?? wellformed
        onFailure = rule.onFailure ?? onFailure
        oversize = rule.oversize ?? oversize
        maximumBodyLength = rule.maximumBodyLength ?? maximumBodyLength
    }
}

/// The `validate` of one rule: `nil` is what it leaves to the rules before it.
package struct ValidationRule: Equatable, Sendable {
    package var statuses: [StatusRange]?
    package var contentTypes: [MediaTypePattern]?
    package var replaces = false
    /// Empty: the body is not checked.
    package var wellformed: BodyKinds?
    package var onFailure: ValidationPlan.OnFailure?
    package var oversize: ValidationPlan.Oversize?
    package var maximumBodyLength: UInt64?

    package init() {}
}
