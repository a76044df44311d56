/// The row of a stored response in the store; 0 while it stands in memory only.
package typealias StoredRowID = Int64

/// A body that stands on disk, to be read in pieces.
@usableFromInline
package struct BodyReference: Equatable, Hashable, Sendable {
    package let id: Int64
    @usableFromInline package let length: UInt64
    /// By which the row is known again in a file that another process writes; 0 where nobody else does.
    package let seal: Int64
    /// Keeps the store from deleting the body for as long as a copy of this reference exists; `nil` where the reader sees to that.
    package let hold: (any AnyObject & Sendable)?

    package init(id: Int64, length: UInt64, seal: Int64 = 0, hold: (any AnyObject & Sendable)? = nil) {
        self.id = id
        self.length = length
        self.seal = seal
        self.hold = hold
    }

    @usableFromInline
    package static func == (left: Self, right: Self) -> Bool {
        left.id == right.id && left.length == right.length && left.seal == right.seal
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(length)
        hasher.combine(seal)
    }
}

/// The complete content of a stored response.
@usableFromInline
package enum StoredBody: Sendable {
    case bytes([UInt8])
    case onDisk(BodyReference)

    /// Found without letting anybody have the bytes, which would count as holding them.
    @inlinable @inline(__always)
    package var length: UInt64 {
        switch self {
        case .bytes(let bytes): UInt64(bytes.count)
        case .onDisk(let reference): reference.length
        }
    }
}
