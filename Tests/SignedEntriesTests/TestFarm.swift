import HTTPCaching
import HTTPMessage
import ServerTrust
import TestSupport

@testable import SignedEntries

/// A farm with its keys, a writer and a reader.
struct TestFarm {
    static let now = Timestamp(seconds: 1_795_000_000)
    static let epoch: [UInt8] = [1, 2, 3]

    let keys: FarmKeys
    let signing: EntrySigningKeys

    init() {
        keys = FarmKeys(farm: FarmID(), keys: [FarmKey.new(start: Self.now)])!
        signing = EntrySigningKeys([EntrySigningKey.new(start: Self.now)!])!
    }

    init(keys: FarmKeys, signing: EntrySigningKeys) {
        self.keys = keys
        self.signing = signing
    }

    var trusted: TrustedSigners {
        TrustedSigners(signing.keys.map { TrustedSigners.Signer(publicKey: $0.publicKey, label: "test") })
    }

    func sealer(isEncrypting: Bool = true) -> EntrySealer {
        EntrySealer(keys: keys, signing: signing, isEncrypting: isEncrypting)
    }

    func opener(knownRoots: Int = EntryLimits.knownRoots) -> EntryOpener {
        EntryOpener(keys: keys, trusted: trusted, knownRoots: knownRoots)
    }

    /// One sealed entry in a batch of its own.
    func sealed(_ entry: SharedEntry, isEncrypting: Bool = true, at now: Timestamp = now) throws -> SealedEntry {
        let sealer = sealer(isEncrypting: isEncrypting)
        return sealer.seal([try sealer.prepare(entry, at: now)], at: now)!.first!
    }

    static func expectation(of response: StoredResponse) -> EntryExpectation {
        EntryExpectation(key: response.key, epoch: epoch, oldestGeneration: 0)
    }

    static func entry(_ response: StoredResponse, generation: Int64 = 7) -> SharedEntry {
        SharedEntry(response, at: EntryPosition(epoch: epoch, generation: generation, fence: [0, 9]))
    }

    static func response(
        _ key: String = "http://origin.example:80/tool-1.2.tar.gz", body: [UInt8] = Array("the body".utf8),
        fields: [(String, String)] = [("Cache-Control", "max-age=600"), ("ETag", "\"1\""), ("Content-Type", "text/plain")],
        nominated: [UInt8] = [], trailers: Fields = Fields(), tags: [String] = ["npm"], chain: RecordedChain? = nil
    ) -> StoredResponse {
        var head = ResponseHead()
        for (name, value) in fields { head.fields.append(name: name, value: value) }
        var facts = Storability.facts(
            of: head, directives: ResponseDirectives(head.fields, targets: .none), requestTime: now, responseTime: now)
        facts.trust = 0x1234
        return StoredResponse(
            key: Array(key.utf8), nominatedFields: nominated, facts: facts,
            head: StoredFields.makeHead(from: head, facts: facts), requestTime: now, body: .bytes(body), trailers: trailers,
            tags: tags, chain: chain)
    }
}

extension EntryOpener {
    /// The reason why an entry is refused; `nil` if it is opened.
    func rejection(_ bytes: [UInt8], _ expected: EntryExpectation, at now: Timestamp = TestFarm.now) -> EntryRejection? {
        do throws(EntryRejection) {
            _ = try open(bytes, expected, at: now)
            return nil
        } catch {
            return error
        }
    }
}

extension StoredResponse {
    var bytes: [UInt8] {
        guard case .bytes(let bytes) = body else { return [] }
        return bytes
    }

    /// The fields as text, for comparisons.
    var lines: [String] { head.fields.lines.map { "\(head.fields.text(of: $0.name)): \(head.fields.text(of: $0.value))" } }
}
