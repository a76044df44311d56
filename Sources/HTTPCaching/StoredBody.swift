/// The row id of a stored response in the store; 0 while it is in memory only.
package typealias StoredRowID = Int64

/// A body on disk, to be read in pieces.
@usableFromInline
package struct BodyReference: Equatable, Hashable, Sendable {
    /// The row id; 0 for a recorded body, which is not in the store and is read through `RecordedBodyPlace`.
    package let id: Int64
    @usableFromInline package let length: UInt64
    /// Identifies the row's content in a file that another process writes; 0 if no other process writes it.
    package let seal: Int64
    /// Prevents the store from deleting the body as long as a copy of this reference exists; `nil` if the reader itself prevents deletion.
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

    /// Computed without handing out the array of bytes, which would retain it.
    @inlinable @inline(__always)
    package var length: UInt64 {
        switch self {
        case .bytes(let bytes): UInt64(bytes.count)
        case .onDisk(let reference): reference.length
        }
    }
}
