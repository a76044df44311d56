package import HTTPMessage

/// Encrypts records that the nodes of a farm leave for each other, such as purges, which contain URLs. Every node can make them. They are
/// encrypted also if entries are not.
///
/// One thread at a time may use it.
package final class FarmRecords {
    private let keys: FarmKeys
    private let context = SHA256Context()
    private let aead = AEAD()
    private static let version: UInt8 = 1
    private static let saltLength = 32

    package init(_ keys: FarmKeys) { self.keys = keys }

    /// The bytes for the engine: a version, the farm key's id, a salt, the ciphertext and its tag.
    package func seal(_ record: [UInt8], at now: Timestamp) -> [UInt8] {
        let farmKey = keys.current(at: now)
        // As for an entry, the salt repeats only with the same content, even if the random bytes repeat.
        let salt = farmKey.sealing.digest(.salt, (RandomBytes.make(Self.saltLength) + record).span, by: context)
        let key = salt.withBytes { farmKey.sealing.digest(.recordKey, $0, by: context) }
        let farm = keys.farm.octets
        var output = [Self.version] + farmKey.id.octets + salt.octets
        aead.seal(record.span, key: key, number: 0, context: farm.span, into: &output)
        return output
    }

    /// The record; its maker had the farm key.
    package func open(_ bytes: [UInt8]) throws(EntryRejection) -> [UInt8] {
        guard bytes.count <= EntryLimits.entry else { throw .tooLarge }
        var reader = ByteReader(bytes, 0..<bytes.count)
        guard try reader.number(UInt8.self) == Self.version else { throw .version }
        let id = FarmKey.ID(octets: try reader.array(FarmKey.ID.count))
        let salt = try reader.range(Self.saltLength)
        guard let farmKey = keys.key(id) else { throw .unknownFarmKey }
        let key = farmKey.sealing.digest(.recordKey, bytes.span.extracting(salt), by: context)
        let farm = keys.farm.octets
        guard
            let record = aead.open(
                bytes.span.extracting(salt.upperBound..<bytes.count), key: key, number: 0, context: farm.span)
        else { throw .decryption }
        return record
    }
}
