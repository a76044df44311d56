import CLarderLinux
import Glibc
import SQLiteDatabase

/// The files of Larder and SQLite whose names begin with the name of the store's file. A user may also have a file with one of these names.
enum FilesBesideStore {
    private static let markLength = 16

    private static let all: [(ending: String, isOurs: @Sendable ([UInt8], Int) -> Bool)] = [
        // The id of a process.
        (".lock", { bytes, _ in bytes.count < markLength && bytes.allSatisfy { $0 == 0x0A || 0x30...0x39 ~= $0 } }),
        (".reserved", { bytes, _ in isZero(bytes[...]) }),
        (".ballast", { bytes, _ in isZero(bytes[...]) }),
        // The formats of SQLite: https://www.sqlite.org/fileformat2.html, https://www.sqlite.org/walformat.html
        ("-wal", { bytes, _ in bytes.starts(with: [0x37, 0x7F, 0x06]) }),
        (
            "-journal",
            { bytes, _ in bytes.starts(with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]) || isZero(bytes.prefix(8)) }
        ),
        (
            "-shm",
            { bytes, length in length % 32_768 == 0 && (bytes.starts(with: [0x18, 0xE2, 0x2D, 0]) || isZero(bytes.prefix(4))) }
        ),
    ]

    /// Checks the files beside a store that has no content yet: Larder and SQLite would overwrite or delete them.
    /// - Throws: `foreignFile` for a file that neither of them has written.
    static func check(besideNewStoreAt path: String) throws(StoreError) {
        if let length = FileSystem.length(of: path), length > 0 { return }
        for (ending, isOurs) in all {
            let place = path + ending
            guard let length = FileSystem.length(of: place), length > 0 else { continue }
            guard let bytes = FileSystem.beginning(of: place, atMost: markLength), isOurs(bytes, length) else {
                throw StoreError(
                    .foreignFile, path: place,
                    message:
                        "the store would replace this file, which is not a file of a Larder store; set another path for the store"
                )
            }
        }
    }

    private static func isZero(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.allSatisfy { $0 == 0 } }
}
