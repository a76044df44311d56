/// The limits of what the shared store holds. An entry beyond a limit is not written, and is refused by a reader.
package enum EntryLimits {
    /// The bytes of an entry without the pieces of its body.
    package static let entry = 2 << 20
    /// A body of up to this length is a part of its entry, so that one read of the engine gets both.
    package static let inlineBody = 16 << 10
    /// The length of a piece of a longer body; the last piece may be shorter.
    package static let piece = 128 << 10
    package static let body = 64 << 20
    static let pieceCount = body / piece
    /// The bytes of the nominated request fields, which distinguish variants.
    static let nominatedFields = 64 << 10
    static let tagCount = 256
    static let tag = 1 << 10
    /// The bytes of a farm's epoch, and of a fence.
    static let word = 32
    /// The entries under one signature.
    package static let batch = 256
    /// How long the first entry of a batch waits for others, in milliseconds.
    package static let batchDelay: Int64 = 50
    /// How far the clocks of two nodes may differ, in milliseconds.
    package static let clockDifference: Int64 = 600_000
    /// How long after its signature an entry may be used, in milliseconds. A lower age follows from the response's freshness.
    package static let lifetime: Int64 = 7 * 86_400_000
    /// The verified signatures that a reader remembers.
    package static let knownRoots = 4096
}
