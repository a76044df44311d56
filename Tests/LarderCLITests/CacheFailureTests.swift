import Foundation
import HTTPCaching
import HTTPMessage
import ResponseStore
import TestSupport
import Testing

@Suite("larder cache: failures")
struct CacheFailureTests {
    typealias Outcome = CommandLineTests.Outcome

    /// A folder with a store that no process has open.
    private final class StandingStore {
        let folder: TemporaryFolder
        var path: String { "\(folder.path)/store.sqlite" }

        init(count: Int, length: Int = 3000) throws {
            folder = try TemporaryFolder()
            var configuration = StoreConfiguration(path: "\(folder.path)/store.sqlite")
            // No response is refused because the disk is slow.
            configuration.limits.queuedMilliseconds = 60_000
            configuration.limits.stalledMilliseconds = 60_000
            let store = try ResponseStore(configuration)
            for number in 0..<count {
                let facts = ReuseFacts(status: .ok, responseTime: Timestamp(seconds: 1_700_000_000))
                _ = store.put(
                    StoredResponse(
                        key: Array("http://example.test:80/\(number)".utf8), nominatedFields: [], facts: facts,
                        head: ResponseHead(), requestTime: Timestamp(seconds: 1_700_000_000),
                        body: .bytes([UInt8](repeating: 0x79, count: length))))
            }
            store.shutdown()
        }

        func cache(_ arguments: String...) throws -> Outcome {
            try CommandLineTests.larder(["cache"] + arguments + ["--store", path])
        }

        /// Runs `script` in a shell, in which `$larder` is the binary and `$store` the store's file.
        func shell(_ script: String) throws -> Outcome {
            try CommandLineTests.shell(script, ["store": path, "folder": folder.path])
        }
    }

    @Test(
        "A purge that cannot be written fails, and the store is unchanged or completely purged",
        .enabled(if: takesFileLimits), arguments: [1, 16, 100])
    func failsToPurge(blocks: Int) throws {
        let store = try StandingStore(count: 400)
        let outcome = try store.shell("trap '' XFSZ; ulimit -f \(blocks); exec $larder cache purge --all --store $store")
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(!outcome.talk.contains("empt") && !outcome.talk.contains("moved"))
        #expect(try store.cache("verify").code == 0)
        let left = try store.cache("ls").output.split(separator: "\n").count
        #expect(left == (outcome.talk.contains("is in effect") ? 0 : 400))
        let again = try store.cache("purge", "--all")
        #expect(again.code == 0)
        #expect(try store.cache("ls").output.isEmpty)
    }

    @Test("purge leaves a damaged store in place, and fails")
    func keepsDamaged() throws {
        let store = try StandingStore(count: 1)
        let text = "this is no database, however long it may be: " + String(repeating: "x", count: 10_000)
        try Data(text.utf8).write(to: URL(filePath: store.path))
        #expect(try store.cache("purge", "--all").code == 1)
        #expect(try String(contentsOfFile: store.path, encoding: .utf8) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).allSatisfy { !$0.contains("damaged") })
    }

    enum Damage: CaseIterable { case text, cut, zeroed, flipped }

    @Test("verify checks a file that SQLite cannot read to the end: code 5, and a report", arguments: Damage.allCases)
    func reportsDamage(damage: Damage) throws {
        let store = try StandingStore(count: 400)
        let url = URL(filePath: store.path)
        var octets = try Data(contentsOf: url)
        switch damage {
        case .text: octets = Data(String(repeating: "no database", count: 1000).utf8)
        case .cut: octets = octets.prefix(octets.count / 2)
        case .zeroed:
            octets.replaceSubrange(octets.count / 16 * 8 / 8192 * 8192..<octets.count, with: Data(count: octets.count / 2))
        case .flipped: for index in stride(from: 8192, to: octets.count, by: 97) { octets[index] ^= 0xFF }
        }
        try octets.write(to: url)
        let text = try store.cache("verify")
        #expect(text.code == 5 && text.output.hasPrefix("faults: ") && text.output.contains("SQLite: "))
        let json = try store.cache("verify", "-o", "json")
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect(json.code == 5 && object?["good"] as? Bool == false && object?["fault_count"] as? Int ?? 0 > 0)
    }

    @Test(
        "Every subcommand reports a missing store in one sentence",
        arguments: ["ls", "stat", "verify", "purge --all"])
    func saysThatThereIsNone(verb: String) throws {
        let folder = try TemporaryFolder()
        let words = verb.split(separator: " ").map(String.init)
        let outcome = try CommandLineTests.larder(["cache"] + words + ["--store", "\(folder.path)/none"])
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(outcome.talk == "larder: there is no store at `\(folder.path)/none`\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("An output that cannot be written is a failure; a closed pipe is not reported as one")
    func failsToWrite() throws {
        let store = try StandingStore(count: 100, length: 200_000)
        for verb in ["ls", "cat http://example.test/1", "stat", "show http://example.test/1"] {
            let full = try store.shell("$larder cache \(verb) --store $store > /dev/full")
            #expect(full.code == 1 && full.talk == "larder: cannot write to standard output: No space left on device\n")
        }
        let closed = try store.shell("$larder cache ls --store $store >&-")
        #expect(closed.code == 1 && closed.talk == "larder: cannot write to standard output: Bad file descriptor\n")
        let left = try store.shell("$larder cache cat http://example.test/1 --store $store | head -c 1")
        #expect(left.output == "y" && left.talk.isEmpty)
    }

    @Test(
        "An export that cannot be written fails with an error, and never mixes with an earlier export",
        .enabled(if: takesFileLimits))
    func failsToExport() throws {
        let store = try StandingStore(count: 3, length: 200_000)
        let full = try store.shell("trap '' XFSZ; ulimit -f 100; exec $larder cache export $folder/out --store $store")
        #expect(full.code == 1 && full.output.isEmpty && full.talk.contains("cannot write \(store.folder.path)/out/bodies/"))
        #expect(full.talk.hasSuffix(": File too large\n"))
        let nowhere = try store.cache("export", "/proc/nope")
        #expect(nowhere.code == 1 && nowhere.talk == "larder: cannot create the folder /proc/nope\n")
        let mixed = try store.cache("export", "\(store.folder.path)/out")
        #expect(mixed.code == 1 && mixed.talk == "larder: \(store.folder.path)/out is not empty\n")
        #expect(try store.cache("export", "\(store.folder.path)/other").output == "exported 3\n")
    }

    @Test(
        "Impossible filters are usage errors",
        arguments: [
            ["ls", "--fresh", "--stale"], ["purge", "--fresh", "--stale"], ["ls", "--limit=-1"], ["export", ""],
            ["cat", "http://example.test/1", "--range", "junk"],
        ])
    func refuses(arguments: [String]) throws {
        let store = try StandingStore(count: 2)
        #expect(try CommandLineTests.larder(["cache"] + arguments + ["--store", store.path]).code == 2)
        #expect(try store.cache("ls").output.split(separator: "\n").count == 2)
    }
}

/// ThreadSanitizer writes a file when a process starts, and ends the process if that fails.
#if SANITIZE_THREAD
    private let takesFileLimits = false
#else
    private let takesFileLimits = true
#endif
