/// A wall-clock time in milliseconds since 1970-01-01T00:00:00Z. This module never reads a clock: its callers pass the time.
@usableFromInline
package struct Timestamp: Comparable, Hashable, Sendable {
    @usableFromInline package var milliseconds: Int64

    @inlinable package init(milliseconds: Int64) { self.milliseconds = milliseconds }
    @inlinable package init(seconds: Int64) { self.milliseconds = seconds &* 1000 }

    /// The time in whole seconds since 1970, rounded down.
    @inlinable package var seconds: Int64 {
        milliseconds >= 0 ? milliseconds / 1000 : (milliseconds &+ 1) / 1000 &- 1
    }

    @inlinable package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
    @inlinable package func advanced(seconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds &+ seconds &* 1000) }
}
