import HTTPCaching
import SQLiteDatabase

extension StoreCore {
    /// Of a store that reads a file which another process may write, behind memory.
    /// - Throws: where the file cannot be read, or is not as this version writes it.
    convenience init(readingBackingStore configuration: StoreConfiguration) throws(StoreError) {
        let connection = try StoreFile(path: configuration.path, role: configuration.role).connect(.browsing)
        try Schema.expectCurrent(on: connection)
        self.init(
            configuration, secret: try Schema.secret(of: connection), nextRow: StoreCore.firstRowAboveFile)
    }

    /// What the readers look up and read by.
    /// - Throws: `damaged` where another file stands under the path of the one behind by now.
    func connectReader(to file: StoreFile) throws(StoreError) -> Connection {
        guard memory.backingStore != nil else { return try file.connect(.reading) }
        let connection = try file.connect(.browsing)
        guard try Schema.secret(of: connection) == secret else {
            throw StoreError(.damaged, path: file.path, message: "another file has replaced it")
        }
        return connection
    }
}
