import HTTPCaching
import HTTPMessage

/// What a listing says of one stored response, without its head and body.
package struct StoredEntry: Sendable {
    package let row: StoredRowID
    package let key: [UInt8]
    package internal(set) var facts: ReuseFacts
    /// The field's value, empty without one.
    package let contentType: [UInt8]
    package let bodyLength: UInt64
    /// So much of the body is there: less than all where it is stored in part.
    package let storedLength: UInt64
    package let tags: [String]
    /// It is one of several for its URL (Vary).
    package let isVariant: Bool
    /// Some of its body is missing: what came before a break (RFC 9111 §3.3).
    package let isPartial: Bool
    /// It stands in memory alone.
    package let isMemoryOnly: Bool
    /// When it was last asked for, in seconds since 1970, as far as the file knows.
    package let lastAccess: Int64

    package var url: [UInt8] { StoredURL.text(ofKey: key) }

    init(_ row: borrowing ResponseRow, facts: ReuseFacts, lastAccess: Int64, storedLength: UInt64 = 0) {
        self.row = row.id
        key = row.key
        self.facts = facts
        let head = row.encodedHead
        let value = StoredHead.firstValue(of: .contentType, in: head)
        contentType = value.map { range in head.extracting(range).withUnsafeBufferPointer { Array($0) } } ?? []
        bodyLength = UInt64(max(row.bodyLength, 0))
        self.storedLength = storedLength
        tags = ResponseRow.tags(decoding: row.tags)
        isVariant = !row.nominated.isEmpty
        isPartial = row.state == .partial
        isMemoryOnly = false
        self.lastAccess = lastAccess
    }

    /// - Parameter bodyLength: Where the body is yet to come: as announced.
    init(_ response: StoredResponse, isMemoryOnly: Bool = false, bodyLength: UInt64? = nil) {
        row = response.row
        key = response.key
        facts = response.facts
        let fields = response.head.fields
        contentType = fields.first(.contentType).map { fields.value(of: $0).withUnsafeBufferPointer { Array($0) } } ?? []
        self.bodyLength = bodyLength ?? response.body.length
        storedLength = response.body.length
        tags = response.tags
        isVariant = !response.nominatedFields.isEmpty
        isPartial = false
        self.isMemoryOnly = isMemoryOnly
        lastAccess = 0
    }
}
