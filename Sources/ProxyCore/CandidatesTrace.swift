import HTTPCaching
import HTTPMessage

/// What the store had under the key, and how the one that was selected was judged. Trivial.
///
/// Candidates are looked at newest first, and the first that matches is selected (RFC 9111 §4.1): so its place tells of each other
/// why it was not. Those before it are for other requests, those behind it were not looked at.
package struct CandidatesTrace: Sendable {
    /// Whether the store was asked, and whether memory alone could not tell.
    package private(set) var wasAsked = false
    package private(set) var askedDisk = false
    package private(set) var count: UInt16 = 0
    /// It is stored in part.
    package private(set) var isPartial = false
    private var place: Int16 = -1
    /// How the selected one was judged.
    package private(set) var freshness: FreshnessTrace?

    /// The place of the selected one among all.
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

    /// - Parameter lifetime: the active one: a rule can have replaced the response's own.
    mutating func note(_ lifetime: (value: DeltaSeconds, source: LifetimeSource)) {
        freshness?.lifetime = lifetime.value
        freshness?.lifetimeSource = lifetime.source
    }
}

/// The numbers by which a stored response was judged fresh or stale (RFC 9111 §4.2). Trivial.
package struct FreshnessTrace: Sendable {
    /// The active lifetime: a rule's, or the one that follows from the origin server's fields.
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
