import HTTPCaching
import HTTPMessage

/// The candidates that the store had under the key, and how the selected one was evaluated. A trivial type.
///
/// Candidates are checked newest first, and the first match is selected (RFC 9111 §4.1). So the position of the selected candidate explains
/// the others: earlier candidates do not match the request, and later candidates were not checked.
package struct CandidatesTrace: Sendable {
    /// Whether the store was queried, and whether the disk was needed too.
    package private(set) var wasAsked = false
    package private(set) var askedDisk = false
    package private(set) var count: UInt16 = 0
    /// Whether the selected response is stored in part.
    package private(set) var isPartial = false
    private var place: Int16 = -1
    /// How the selected response was evaluated.
    package private(set) var freshness: FreshnessTrace?

    /// The position of the selected response among the candidates.
    package var selected: Int? { place < 0 ? nil : Int(place) }

    init() {}

    mutating func askDisk() { askedDisk = true }

    mutating func note(noneAmong count: Int) {
        wasAsked = true
        self.count = UInt16(truncatingIfNeeded: count)
    }

    mutating func note(_ facts: ReuseFacts, at place: Int, among count: Int, at now: Timestamp) {
        wasAsked = true
        self.count = UInt16(truncatingIfNeeded: count)
        self.place = Int16(truncatingIfNeeded: place)
        freshness = FreshnessTrace(facts, at: now)
    }

    mutating func note(partial facts: ReuseFacts, at now: Timestamp) {
        note(facts, at: 0, among: 1, at: now)
        isPartial = true
    }

    /// - Parameter lifetime: the active lifetime, which is the response's own unless a rule has replaced it.
    mutating func note(_ lifetime: (value: DeltaSeconds, source: LifetimeSource)) {
        freshness?.lifetime = lifetime.value
        freshness?.lifetimeSource = lifetime.source
    }
}

/// The values by which a stored response was found to be fresh or stale (RFC 9111 §4.2). A trivial type.
package struct FreshnessTrace: Sendable {
    /// The active lifetime: set by a rule, or computed from the origin server's fields.
    package internal(set) var lifetime: DeltaSeconds
    package internal(set) var lifetimeSource: LifetimeSource
    package let age: DeltaSeconds
    package let initialAge: DeltaSeconds
    package let residentTime: DeltaSeconds

    init(_ facts: ReuseFacts, at now: Timestamp) {
        lifetime = facts.freshnessLifetime
        lifetimeSource = facts.limitingSource
        age = facts.currentAge(at: now)
        initialAge = facts.initialAge
        residentTime = facts.residentTime(at: now)
    }
}
