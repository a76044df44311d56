/// The row id of a stored response in the store's database; 0 while the response is in memory only.
package typealias StoredRowID = Int64

/// A body on disk, to be read in pieces.
@usableFromInline
package struct BodyReference: Equatable, Hashable, Sendable {
    /// The row id; 0 for a body in a recording, which is not in the store and is read through `RecordedBodyPlace`.
    package let id: Int64
    @usableFromInline package let length: UInt64
    /// Identifies the row's content in a store file that another process writes; 0 if no other process writes the file.
    package let seal: Int64
    /// Keeps the store from deleting the body as long as a copy of this reference exists; `nil` if the body's reader itself keeps it
    /// from being deleted.
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

    /// Computed here, so that the array of bytes is not returned and retained.
    @inlinable @inline(__always)
    package var length: UInt64 {
        switch self {
        case .bytes(let bytes): UInt64(bytes.count)
        case .onDisk(let reference): reference.length
        }
    }
}
