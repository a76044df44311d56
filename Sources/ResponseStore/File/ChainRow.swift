import HTTPCaching
import SQLiteDatabase

/// A row of the table `certificate_chain`.
enum ChainRow {
    static func checksum(id: Int64, fingerprint: Span<UInt8>, octets: Span<UInt8>) -> Int64 {
        var checksum = Checksum(seed: id)
        checksum.combine(fingerprint)
        checksum.combine(octets)
        return checksum.value
    }
}

/// Reads certificate chains, verified, with one copy of each in memory.
final class ChainReading {
    private let directory: ChainDirectory
    private let byID: Statement

    init(_ connection: Connection, _ directory: ChainDirectory) throws(StoreError) {
        self.directory = directory
        byID = try connection.prepare("SELECT fingerprint, chain, checksum FROM certificate_chain WHERE id=?")
    }

    /// - Returns: `nil` for 0, or if the chain is corrupt: its responses are treated as if they had no recorded chain.
    func chain(_ id: Int64) throws(StoreError) -> RecordedChain? {
        if id == 0 { return nil }
        byID.bind(1, id)
        defer { byID.reset() }
        guard try byID.step() else { return nil }
        let fingerprint = byID.bytes(0)
        // The bytes of a chain are long, so they are not read if memory already has the chain.
        if let known = directory.chain(withDigest: fingerprint) { return known }
        let octets = byID.bytes(1)
        guard ChainRow.checksum(id: id, fingerprint: fingerprint.span, octets: octets.span) == byID.integer(2),
            let chain = RecordedChain(octets), chain.digest == fingerprint
        else { return nil }
        return directory.shared(chain)
    }
}
