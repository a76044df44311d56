import HTTPCaching
import HTTPMessage
import SignedEntries

/// Entries that are signed by their writer and, if the farm wants that, encrypted.
package final class SignedEntryCoder: EntryCoding {
    package let farm: String
    private let names: EntryNames
    private let opener: EntryOpener
    private let sealer: EntrySealer?
    private let records: FarmRecords
    private let trusted: TrustedSigners
    private let sharing: SharingSettings
    private let now: () -> Timestamp

    /// - Parameters:
    ///   - signing: the node's signing keys; `nil` for a node that only reads.
    ///   - isEncrypting: whether heads and bodies are encrypted.
    package init(
        keys: FarmKeys, trusted: TrustedSigners, signing: EntrySigningKeys?, isEncrypting: Bool, sharing: SharingSettings,
        now: @escaping () -> Timestamp
    ) {
        farm = keys.farm.description
        names = EntryNames(keys)
        opener = EntryOpener(keys: keys, trusted: trusted)
        sealer = signing.map { EntrySealer(keys: keys, signing: $0, isEncrypting: isEncrypting) }
        records = FarmRecords(keys)
        self.trusted = trusted
        self.sharing = sharing
        self.now = now
    }

    package var canSeal: Bool { sealer != nil }

    package func name(ofKey key: [UInt8]) -> [UInt8] { Self.text(names.name(of: key, at: now()).octets) }

    package func name(ofVariant nominatedFields: [UInt8], key: [UInt8]) -> [UInt8] {
        Self.text(names.variant(nominatedFields, at: now()).octets)
    }

    /// Names are written in hexadecimal, so that an administrator can read and type them.
    private static func text(_ octets: [UInt8]) -> [UInt8] { Array(Hexadecimal.encode(octets).utf8) }

    // MARK: Writing

    package func seal(_ batch: [EntryToSeal], at now: Timestamp) -> [StorableEntry?] {
        var prepared: [(index: Int, entry: PreparedEntry)] = []
        for (index, entry) in batch.enumerated() where mayShare(entry.response) {
            let position = EntryPosition(epoch: entry.mark.epoch, generation: entry.mark.generation, fence: entry.fence)
            // A response beyond a limit of entries is not shared.
            if let made = try? sealer?.prepare(SharedEntry(entry.response, at: position), at: now) {
                prepared.append((index, made))
            }
        }
        var result = [StorableEntry?](repeating: nil, count: batch.count)
        guard !prepared.isEmpty, let sealed = sealer?.seal(prepared.map(\.entry), at: now) else { return result }
        for (one, entry) in zip(prepared, sealed) {
            let pieces = entry.prepared.pieces
            let made = (pieces?.pieces ?? []).enumerated().compactMap { number, bytes in
                pieces.map { (name: Self.pieceName($0.body, number), bytes: bytes) }
            }
            result[one.index] = StorableEntry(entry: entry.bytes, pieces: made)
        }
        return result
    }

    private func mayShare(_ response: StoredResponse) -> Bool {
        var facts = SharingFacts()
        // Requests with credentials take no lease, rules that check responses keep a node from asking the tier, and a response is offered
        // only when its body is complete.
        facts.isWholeAndChecked = true
        facts.requestCount = 2
        return Sharing.decide(response, facts, sharing) == .share
    }

    private static func pieceName(_ body: PiecedBody, _ number: Int) -> [UInt8] {
        text(body.name) + Array("-\(number)".utf8)
    }

    // MARK: Reading

    package func open(
        _ entry: [UInt8], key: [UInt8], epoch: [UInt8], oldest: Int64, at now: Timestamp
    ) -> Result<FoundEntry, EntryRefusal> {
        let expected = EntryExpectation(key: key, epoch: epoch, oldestGeneration: oldest)
        let opened: OpenedEntry
        do throws(EntryRejection) {
            opened = try opener.open(entry, expected, at: now)
        } catch {
            return .failure(EntryRefusal(error.rawValue))
        }
        let position = opened.entry.position
        let names = opened.pieces.map { body in (0..<body.pieceCount).map { Self.pieceName(body, $0) } } ?? []
        return .success(
            FoundEntry(
                response: opened.entry.response, mark: FarmMark(epoch: position.epoch, generation: position.generation),
                pieces: names, signer: label(of: opened.signer)
            ) { [opener] pieces in
                do throws(EntryRejection) {
                    return .success(try opener.assemble(opened, pieces).response)
                } catch {
                    return .failure(EntryRefusal(error.rawValue))
                }
            })
    }

    private func label(of signer: SignerID) -> String {
        let label = (try? trusted.signer(signer))?.label ?? ""
        return label.isEmpty ? signer.description : label
    }

    // MARK: Records of purges

    package func seal(record: [UInt8]) -> [UInt8]? { records.seal(record, at: now()) }
    package func open(record: [UInt8]) -> [UInt8]? { try? records.open(record) }
}
