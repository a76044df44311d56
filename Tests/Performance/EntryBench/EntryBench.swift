import Glibc
import HTTPCaching
import HTTPMessage
import ServerTrust
import SignedEntries

/// The cost of making and opening entries of the shared store, beside one Ed25519 verification by the same library.
/// `EntryBench [BODY] [ROUNDS]`: the length of a body in bytes (1024), and the number of entries (8192).
@main
enum EntryBench {
    static let now = Timestamp(seconds: 1_795_000_000)
    static let epoch: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    static func main() {
        let arguments = CommandLine.arguments
        let length = arguments.count > 1 ? Int(arguments[1]) ?? 1024 : 1024
        let count = arguments.count > 2 ? max(256, Int(arguments[2]) ?? 8192) / 256 * 256 : 8192
        guard let signing = EntrySigningKey.new(start: now), let signingKeys = EntrySigningKeys([signing]),
            let keys = FarmKeys(farm: FarmID(), keys: [FarmKey.new(start: now)])
        else { fatalError("no keys") }
        let trusted = TrustedSigners([.init(publicKey: signing.publicKey, label: "")])
        let responses = (0..<count).map { response($0, length: length) }
        print("\(count) entries with \(length) bytes of body; CPU of this thread for each, in microseconds")
        measureSignatures()
        for isEncrypting in [false, true] {
            let name = isEncrypting ? "encrypted" : "plain"
            let sealer = EntrySealer(keys: keys, signing: signingKeys, isEncrypting: isEncrypting)
            let one = report("\(name): seal in batches of 256", count) { seal(responses, sealer, batch: 256) }
            let single = report("\(name): seal in batches of 1", count) { seal(responses, sealer, batch: 1) }
            let opener = EntryOpener(keys: keys, trusted: trusted, knownRoots: count)
            report("\(name): open, unknown root", count) { open(single, responses, opener) }
            report("\(name): open, known root, batch of 1", count) { open(single, responses, opener) }
            open(one, responses, opener)
            report("\(name): open, known root, batch of 256", count) { open(one, responses, opener) }
        }
    }

    /// What `openssl speed ed25519` measures, with the same library in the same process.
    private static func measureSignatures() {
        guard let key = Ed25519.newKey(), let publicKey = Ed25519.publicKey(of: key) else { fatalError("no key") }
        let message = [UInt8](repeating: 7, count: 82)
        guard let signature = Ed25519.signature(of: message, by: key) else { fatalError("no signature") }
        report("Ed25519: sign", 1000) { for _ in 0..<1000 { precondition(Ed25519.signature(of: message, by: key) != nil) } }
        report("Ed25519: verify", 1000) {
            for _ in 0..<1000 { precondition(Ed25519.accepts(signature, of: message, by: publicKey)) }
        }
    }

    private static func seal(_ responses: [StoredResponse], _ sealer: EntrySealer, batch: Int) -> [[UInt8]] {
        stride(from: 0, to: responses.count, by: batch).flatMap { start in
            let prepared = responses[start..<min(start + batch, responses.count)].compactMap { response in
                // The lengths are within the limits.
                try? sealer.prepare(
                    SharedEntry(response, at: EntryPosition(epoch: epoch, generation: 1, fence: [])), at: now)
            }
            guard let sealed = sealer.seal(prepared, at: now) else { fatalError("OpenSSL cannot sign") }
            return sealed.map(\.bytes)
        }
    }

    private static func open(_ entries: [[UInt8]], _ responses: [StoredResponse], _ opener: EntryOpener) {
        for (bytes, response) in zip(entries, responses) {
            let expected = EntryExpectation(key: response.key, epoch: epoch, oldestGeneration: 0)
            do throws(EntryRejection) {
                _ = try opener.open(bytes, expected, at: now)
            } catch {
                fatalError("an entry is refused: \(error)")
            }
        }
    }

    private static func response(_ number: Int, length: Int) -> StoredResponse {
        var head = ResponseHead()
        for (name, value) in [
            ("Content-Type", "application/octet-stream"), ("Cache-Control", "public, max-age=3600"), ("ETag", "\"\(number)\""),
            ("Last-Modified", "Sun, 15 Nov 2026 10:00:00 GMT"), ("Server", "nginx"), ("Vary", "Accept-Encoding"),
        ] {
            head.fields.append(name: name, value: value)
        }
        let facts = Storability.facts(
            of: head, directives: ResponseDirectives(head.fields, targets: .none), requestTime: now, responseTime: now)
        return StoredResponse(
            key: Array("https://registry.example:443/packages/\(number)/tool-1.2.3.tgz".utf8), nominatedFields: [],
            facts: facts, head: StoredFields.makeHead(from: head, facts: facts), requestTime: now,
            body: .bytes([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)))
    }

    @discardableResult
    private static func report<Result>(_ name: String, _ count: Int, _ work: () -> Result) -> Result {
        let start = cpu()
        let result = work()
        let each = (cpu() - start) / Double(count)
        print("\(name): \((each * 100).rounded() / 100)")
        return result
    }

    /// In microseconds.
    private static func cpu() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000_000 + Double(time.tv_nsec) / 1000
    }
}
