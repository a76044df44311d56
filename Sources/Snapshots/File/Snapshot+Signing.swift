import SQLiteDatabase

extension Snapshot {
    /// Adds a key's signature of the Merkle root `full` to a finished file.
    /// The file is replaced atomically; readers that have the file open
    /// continue to read the old file.
    /// - Throws: the errors of opening the file. If the key has already signed the file, nothing changes and nothing is thrown.
    package static func sign(path: String, by key: SigningKey) throws(SnapshotError) {
        let snapshot = try Snapshot(path: path)
        if snapshot.signers.contains(key.verifying) { return }
        guard snapshot.signers.count < SnapshotLimits.signatures else { throw .tooLarge("signatures") }
        let signature = try key.signature(of: snapshot.roots.full)
        let copy = path + ".signing"
        try FileBasics.copy(path, to: copy)
        try onDatabase { () throws(DatabaseError) in
            let tables = SnapshotTables(try Connection(path: copy, access: .writing))
            try tables.insertSignature(key: key.verifying.octets, octets: signature)
        }
        try FileBasics.publish(copy, as: path)
    }
}
