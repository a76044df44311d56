import HTTPCaching
import SQLiteDatabase

extension StoreCore {
    /// Creates the core of a store that reads a file, which another process may write, and keeps new responses in memory only.
    /// - Throws: an error if the file cannot be read, or another version wrote it.
    convenience init(readingBackingStore configuration: StoreConfiguration) throws(StoreError) {
        let connection = try StoreFile(path: configuration.path, role: configuration.role).connect(.browsing)
        try Schema.expectCurrent(on: connection)
        self.init(
            configuration, secret: try Schema.secret(of: connection), nextRow: StoreCore.firstRowAboveFile)
    }

    /// The connection of a reader.
    /// - Throws: `damaged` if the backing file has been replaced by another file.
    func connectReader(to file: StoreFile) throws(StoreError) -> Connection {
        guard memory.backingStore != nil else { return try file.connect(.reading) }
        let connection = try file.connect(.browsing)
        guard try Schema.secret(of: connection) == secret else {
            throw StoreError(.damaged, path: file.path, message: "another file has replaced the store file")
        }
        return connection
    }
}
