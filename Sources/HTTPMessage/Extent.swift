/// The position of a piece of a head in the head's bytes.
///
/// Heads keep the received bytes and store positions in them, so that field values are forwarded unchanged.
@usableFromInline
package struct Extent: Equatable, Hashable, Sendable {
    @usableFromInline package var offset: UInt32
    @usableFromInline package var count: UInt32

    @inlinable
    package init(offset: Int, count: Int) {
        self.offset = UInt32(truncatingIfNeeded: offset)
        self.count = UInt32(truncatingIfNeeded: count)
    }

    @inlinable
    package init(_ range: Range<Int>) {
        self.init(offset: range.lowerBound, count: range.count)
    }

    /// The position of the same piece after `distance` bytes were inserted before the piece (or removed, if `distance` is negative).
    @inlinable
    package func moved(by distance: Int) -> Extent { Extent(offset: Int(offset) &+ distance, count: Int(count)) }

    @inlinable package static var empty: Extent { Extent(offset: 0, count: 0) }

    @inlinable package var isEmpty: Bool { count == 0 }
    @inlinable package var end: Int { Int(offset) + Int(count) }
    @inlinable package var range: Range<Int> { Int(offset)..<Int(offset) + Int(count) }
}
