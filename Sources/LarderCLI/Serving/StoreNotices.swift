import ResponseStore

/// What the store has to tell, as sentences.
enum StoreNotices {
    static func text(_ notice: StoreNotice) -> String {
        switch notice {
        case .movedAside(let path, let reason):
            "the store was damaged (\(reason)) and is now \(path); starting with an empty one"
        case .emptied(let version): "the store was of the older version \(version) and has been emptied"
        case .diskFull(let detail): "the disk is full (\(detail)): responses are served and not stored"
        case .writeFailed(let detail):
            "writing to the store failed (\(detail)): the responses concerned were served and not stored"
        case .damagedEntry(let detail): "a stored response was damaged and has been deleted (\(detail))"
        case .recounted(let entries, let bytes):
            "the store's totals did not fit what it holds, and have been counted anew: \(entries) responses, \(bytes) bytes"
        case .fileLeft(let reason): "the store's file is another process's, and is not read any more: \(reason)"
        }
    }
}
