/// Where a piece of a head stands in the head's bytes.
///
/// Heads keep the bytes as they came and remember places in them, so that a field's value leaves as it arrived.
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

    /// The same piece with so many bytes more (or fewer) before it.
    @inlinable
    package func moved(by distance: Int) -> Extent { Extent(offset: Int(offset) &+ distance, count: Int(count)) }

    @inlinable package static var empty: Extent { Extent(offset: 0, count: 0) }

    @inlinable package var isEmpty: Bool { count == 0 }
    @inlinable package var end: Int { Int(offset) + Int(count) }
    @inlinable package var range: Range<Int> { Int(offset)..<Int(offset) + Int(count) }
}
