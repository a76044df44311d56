import ResponseStore

/// The store's notices as sentences.
enum StoreNotices {
    static func text(_ notice: StoreNotice) -> String {
        switch notice {
        case .movedAside(let path, let reason):
            "the store was damaged (\(reason)) and was moved to \(path); Larder starts with an empty store"
        case .emptied(let version): "the store had the older format version \(version); Larder emptied it"
        case .diskFull(let detail): "the disk is full (\(detail)): responses are served and not stored"
        case .writeFailed(let detail):
            "writing to the store failed (\(detail)): the affected responses were served but not stored"
        case .damagedEntry(let detail): "a stored response was damaged and was deleted (\(detail))"
        case .recounted(let entries, let bytes):
            "the store's totals were wrong; the recounted totals are \(entries) responses, \(bytes) bytes"
        case .fileLeft(let reason): "the store's file now belongs to another process, and Larder no longer reads it: \(reason)"
        }
    }
}
