import HTTPCaching
import HTTPMessage

/// Makes the bytes that are stored in the engine, and reads them. The tier treats them as opaque. Made and used on the tier's thread.
package protocol EntryCoding: AnyObject {
    /// The name of the farm: letters, digits and hyphens. Nodes with the same name share responses.
    var farm: String { get }

    /// Whether this node has a key to sign with. A node without one only reads.
    var canSeal: Bool { get }

    /// The name of a cache key in the engine: letters, digits and hyphens. It reveals nothing about the key.
    func name(ofKey key: [UInt8]) -> [UInt8]

    /// The name of a variant among those of its key.
    func name(ofVariant nominatedFields: [UInt8], key: [UInt8]) -> [UInt8]

    /// Seals responses together. A response that cannot be sealed, or may not be shared, gives `nil`.
    func seal(_ batch: [EntryToSeal], at now: Timestamp) -> [StorableEntry?]

    /// - Parameters:
    ///   - epoch: the farm's epoch; entries of other epochs are refused.
    ///   - oldest: entries of earlier generations are refused, because purges after them may be unknown.
    func open(_ entry: [UInt8], key: [UInt8], epoch: [UInt8], oldest: Int64, at now: Timestamp) -> Result<
        FoundEntry, EntryRefusal
    >

    /// Protects a record of a purge, which contains URLs.
    func seal(record: [UInt8]) -> [UInt8]?

    /// - Returns: `nil` if the record was not made by a node of this farm.
    func open(record: [UInt8]) -> [UInt8]?
}

/// A complete response with its body in memory, and when it was fetched.
package struct EntryToSeal: Sendable {
    package let response: StoredResponse
    /// The farm's epoch and generation before the fetch began.
    package let mark: FarmMark
    /// The fence of the lease under which the response was fetched.
    package let fence: [UInt8]
}

/// An entry for the engine. A long body follows in pieces under their own names.
package struct StorableEntry: Sendable {
    package let entry: [UInt8]
    package let pieces: [(name: [UInt8], bytes: [UInt8])]

    package init(entry: [UInt8], pieces: [(name: [UInt8], bytes: [UInt8])]) {
        self.entry = entry
        self.pieces = pieces
    }
}

/// An entry that was read and verified.
package struct FoundEntry {
    /// The response; its body is empty if it follows in pieces.
    package let response: StoredResponse
    package let mark: FarmMark
    /// The names of the pieces of the body, in order.
    package let pieces: [[UInt8]]
    /// Joins the pieces to the whole response.
    package let join: ([[UInt8]]) -> Result<StoredResponse, EntryRefusal>
    /// The name of the key that signed the entry, for explanations.
    package let signer: String

    package init(
        response: StoredResponse, mark: FarmMark, pieces: [[UInt8]], signer: String,
        join: @escaping ([[UInt8]]) -> Result<StoredResponse, EntryRefusal>
    ) {
        self.response = response
        self.mark = mark
        self.pieces = pieces
        self.signer = signer
        self.join = join
    }
}

/// Why an entry is not used: a word of the closed list of the module that reads entries.
package struct EntryRefusal: Error, Hashable, Sendable {
    package let word: String
    package init(_ word: String) { self.word = word }
}
