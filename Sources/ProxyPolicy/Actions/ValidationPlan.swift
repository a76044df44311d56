import HTTPMessage

/// The checks of a response, collected from all matching rules, and what happens when a check fails.
package struct ValidationPlan: Equatable, Sendable {
    /// What happens to a response that fails a check. Such a response is never stored, and never replaces a good stored response.
    package enum OnFailure: UInt8, CaseIterable, Sendable { case block, annotate, pass, stale }
    /// What happens to a body that is too large to be checked.
    package enum Oversize: UInt8, CaseIterable, Sendable { case pass, block }

    package var headChecks = ResponseHeadChecks()
    /// The allowed formats of the body; empty allows any.
    package var wellformed: BodyKinds = []
    package var onFailure = OnFailure.annotate
    package var oversize = Oversize.pass
    /// The length of the largest body that is checked, in bytes; it limits the body as received and the decoded body.
    package var maximumBodyLength: UInt64 = 8 << 20

    package init() {}

    /// Removes all checks; keeps the storage of the lists.
    mutating func removeAll() {
        headChecks.statuses.removeAll(keepingCapacity: true)
        headChecks.contentTypes.removeAll(keepingCapacity: true)
        wellformed = []
        onFailure = .annotate
        oversize = .pass
        maximumBodyLength = 8 << 20
    }

    /// Merges a later rule's values. The later rule's lists are appended to the earlier lists, or replace them if the later rule sets
    /// `replace`.
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

/// The `validate` section of a rule. A value of `nil` keeps the value of an earlier rule.
package struct ValidationRule: Equatable, Sendable {
    package var statuses: [StatusRange]?
    package var contentTypes: [MediaTypePattern]?
    package var replaces = false
    /// The allowed formats of the body; if empty, the body is not checked.
    package var wellformed: BodyKinds?
    package var onFailure: ValidationPlan.OnFailure?
    package var oversize: ValidationPlan.Oversize?
    package var maximumBodyLength: UInt64?

    package init() {}
}
