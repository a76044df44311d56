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
    private var place: Int16 = -1
    /// What is known of the selected one, as it was judged.
    package private(set) var facts: ReuseFacts?
    package private(set) var judgedAt = Timestamp(milliseconds: 0)
    /// The lifetime in force, with what rules say of it; `nil` where that of `facts` was.
    package private(set) var lifetime: DeltaSeconds?

    /// The place of the selected one among all.
    package var selected: Int? { place < 0 ? nil : Int(place) }

    init() {}

    mutating func askDisk() { askedDisk = true }

    mutating func note(noneAmong count: Int, at now: Timestamp) {
        wasAsked = true
        self.count = UInt16(truncatingIfNeeded: count)
        judgedAt = now
    }

    mutating func note(_ facts: ReuseFacts, at place: Int, among count: Int, at now: Timestamp) {
        wasAsked = true
        self.count = UInt16(truncatingIfNeeded: count)
        self.place = Int16(truncatingIfNeeded: place)
        self.facts = facts
        judgedAt = now
    }

    mutating func note(lifetime: DeltaSeconds) { self.lifetime = lifetime }
}
