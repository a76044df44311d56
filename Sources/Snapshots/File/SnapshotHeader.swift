import Glibc
import HTTPMessage
import SQLiteDatabase

/// The first 100 bytes of a finished snapshot, checked before SQLite opens the file (sqlite.org/fileformat2.html, §1.3).
enum SnapshotHeader {
    /// - Throws: `notASnapshot` for anything but a finished file of this version, such as a file of another application or one with a
    ///   write-ahead log; `damaged` if the file's length differs from its header.
    static func check(path: String) throws(SnapshotError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .database(DatabaseError(systemCall: "open", path: path, code: errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .notASnapshot("it is not a regular file")
        }
        var header = [UInt8](repeating: 0, count: 100)
        guard pread(descriptor, &header, 100, 0) == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw .notASnapshot("it is not an SQLite file")
        }
        let span = header.span
        guard span.bigEndian(at: 68) as UInt32 == SnapshotSchema.applicationID else {
            throw .notASnapshot("it belongs to another application")
        }
        let version: UInt32 = span.bigEndian(at: 60)
        guard version == SnapshotSchema.version else { throw .notASnapshot("it has the version \(version)") }
        guard Int(span.bigEndian(at: 16) as UInt16) == SnapshotSchema.pageLength else {
            throw .notASnapshot("it has a different page size")
        }
        // No write-ahead log, no reserved bytes in its pages, text in UTF-8, no auto-vacuum.
        guard header[18] == 1, header[19] == 1, header[20] == 0, span.bigEndian(at: 56) as UInt32 == 1,
            span.bigEndian(at: 52) as UInt32 == 0
        else { throw .notASnapshot("it is not finished") }
        let pages: UInt32 = span.bigEndian(at: 28)
        guard Int64(pages) * Int64(SnapshotSchema.pageLength) == Int64(status.st_size) else {
            throw .damaged("the file is truncated")
        }
    }
}
