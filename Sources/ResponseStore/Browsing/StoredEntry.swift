import HTTPCaching
import HTTPMessage

/// One stored response in a listing, without its head and body.
package struct StoredEntry: Sendable {
    package let row: StoredRowID
    package let key: [UInt8]
    package internal(set) var facts: ReuseFacts
    /// The value of Content-Type; empty if the field is missing.
    package let contentType: [UInt8]
    package let bodyLength: UInt64
    /// How many bytes of the body are stored; for a partial response, fewer than the body has.
    package let storedLength: UInt64
    package let tags: [String]
    /// Whether the response is one of the variants of its URL (Vary).
    package let isVariant: Bool
    /// Whether a part of its body is missing because the transfer was interrupted (RFC 9111 §3.3).
    package let isPartial: Bool
    /// Whether the response is in memory only.
    package let isMemoryOnly: Bool
    /// The last use, in seconds since 1970, as recorded in the file.
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

    /// - Parameter bodyLength: the declared length, if the body has not arrived yet.
    package init(_ response: StoredResponse, isMemoryOnly: Bool = false, bodyLength: UInt64? = nil) {
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
