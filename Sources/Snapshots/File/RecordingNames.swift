import Glibc

/// The names that a recording needs besides `FILE`: `FILE.partial`, and the files that SQLite and `finish` make beside it. A user may have a
/// file with one of these names, which Larder must neither delete nor overwrite.
enum RecordingNames {
    private static let markLength = 16

    /// The formats are those of SQLite: https://www.sqlite.org/fileformat2.html, https://www.sqlite.org/walformat.html
    private static let besidePartial: [(ending: String, isOurs: @Sendable (_ path: String, _ start: [UInt8]) -> Bool)] = [
        ("-wal", { _, start in start.starts(with: [0x37, 0x7F, 0x06]) && start.dropFirst(8).starts(with: pageLength) }),
        (
            "-journal",
            { _, start in
                start.starts(with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]) || start.allSatisfy { $0 == 0 }
            }
        ),
        ("-shm", { _, start in start.starts(with: [0x18, 0xE2, 0x2D, 0]) }),
        (".compact", { path, _ in isRecording(path) }),
    ]

    /// The length of a recording's pages, as SQLite writes it into the header of its write-ahead log.
    private static let pageLength = withUnsafeBytes(of: UInt32(SnapshotSchema.pageLength).bigEndian) { Array($0) }

    /// Checks the names for a new recording, and deletes what an earlier one left beside a `FILE.partial` that was deleted.
    /// - Throws: `unfinished` if there is an unfinished recording; `inTheWay` for a file that is not Larder's.
    static func free(_ partial: String) throws(SnapshotError) {
        if FileBasics.exists(partial) {
            guard isRecording(partial) || FileBasics.isEmpty(partial) else { throw .inTheWay(path: partial) }
            throw .unfinished(path: partial)
        }
        try check(beside: partial)
        for (ending, _) in besidePartial { unlink(partial + ending) }
    }

    /// - Throws: `inTheWay` for a file beside `FILE.partial` that neither Larder nor SQLite has written.
    static func check(beside partial: String) throws(SnapshotError) {
        for (ending, isOurs) in besidePartial {
            let path = partial + ending
            guard FileBasics.exists(path), !FileBasics.isEmpty(path) else { continue }
            guard let start = FileBasics.beginning(of: path, atMost: markLength), isOurs(path, start) else {
                throw .inTheWay(path: path)
            }
        }
    }

    /// Whether the file is a recording, finished or not, of any version. Its content may be damaged.
    static func isRecording(_ path: String) -> Bool {
        guard let header = FileBasics.beginning(of: path, atMost: 100), header.count == 100 else { return false }
        return header.starts(with: Array("SQLite format 3\0".utf8))
            && header.span.bigEndian(at: 68) as UInt32 == SnapshotSchema.applicationID
    }
}
