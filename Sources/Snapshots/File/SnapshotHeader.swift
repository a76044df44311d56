import Glibc
import HTTPMessage
import SQLiteDatabase

/// The first 100 bytes of a finished snapshot, checked before SQLite opens the file (SQLite's file format, §1.3).
enum SnapshotHeader {
    /// - Throws: `notASnapshot` unless the file is a finished snapshot of this version: it also rejects files of other applications,
    ///   and files with a write-ahead log. Throws `damaged` if the file's length differs from the length in its header.
    static func check(path: String) throws(SnapshotError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .database(DatabaseError(systemCall: "open", path: path, code: errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .notASnapshot("the path is not a regular file")
        }
        var header = [UInt8](repeating: 0, count: 100)
        guard pread(descriptor, &header, 100, 0) == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw .notASnapshot("the file is not an SQLite file")
        }
        let span = header.span
        guard span.bigEndian(at: 68) as UInt32 == SnapshotSchema.applicationID else {
            throw .notASnapshot("the file's SQLite application ID is not that of a snapshot")
        }
        let version: UInt32 = span.bigEndian(at: 60)
        guard version == SnapshotSchema.version else {
            throw .notASnapshot(
                "the file has the format version \(version), and this Larder reads only version \(SnapshotSchema.version)")
        }
        guard Int(span.bigEndian(at: 16) as UInt16) == SnapshotSchema.pageLength else {
            throw .notASnapshot("the file's page size is not that of a snapshot")
        }
        // A finished snapshot has no write-ahead log, no reserved bytes in its pages, text in UTF-8, and no auto-vacuum.
        guard header[18] == 1, header[19] == 1, header[20] == 0, span.bigEndian(at: 56) as UInt32 == 1,
            span.bigEndian(at: 52) as UInt32 == 0
        else { throw .notASnapshot("the file is not finished") }
        let pages: UInt32 = span.bigEndian(at: 28)
        guard Int64(pages) * Int64(SnapshotSchema.pageLength) == Int64(status.st_size) else {
            throw .damaged("the file's length does not match its header")
        }
    }
}
