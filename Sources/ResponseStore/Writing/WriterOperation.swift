import HTTPCaching

/// The writer's operations. The writer performs them in the order in which the memory tier was changed.
enum WriterOperation: Sendable {
    case store(StoredResponse, KeyHash)
    case freshen(StoredResponse, KeyHash)
    case remove(StoredResponse, KeyHash)
    /// Deletes the response on disk that the new response replaces. Only memory keeps the new response, which is passed here
    /// without its content.
    case displace(by: StoredResponse, KeyHash)
    case invalidate(key: [UInt8], KeyHash)
    case pending(PendingResponse)
    case purge(PurgeWork)
    /// Rows that were used.
    case accessed([StoredRowID], at: Int64)
    /// A row or one of its chunks is corrupt.
    case dropDamaged(StoredRowID, RowDamage)
    /// A statement found the file damaged.
    case fileIsDamaged(generation: Int, reason: String)
    /// Limits the size of the file, like a full disk. For tests.
    case limitPages(Int)
    /// A lookup that must see all operations before it.
    case lookUp(LookUpJob)

    /// The fixed cost of an operation for the writer, in addition to its bytes: the number of bytes that could be written in
    /// the same time.
    static let fixedWork = 2560

    /// The cost for the writer, in bytes: the bytes to write, plus `fixedWork`.
    var work: Int {
        switch self {
        case .pending(let pending): pending.unwrittenBytes + WriterOperation.fixedWork
        default: byteCount + WriterOperation.fixedWork
        }
    }

    /// The size in the queue, in bytes.
    var byteCount: Int {
        switch self {
        case .store(let response, _): Int(response.body.length) + response.preparedHead.count + 512
        default: 256
        }
    }
}

/// The damage that a reader found in a row.
enum RowDamage: Sendable {
    /// The row itself, or its inline body, is corrupt.
    case row
    /// A chunk of this body is missing or corrupt.
    case body(Int64)
    /// No extent of the body has this offset.
    case hole(at: UInt64)
}
