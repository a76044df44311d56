import ArgumentParser
import Foundation
import HTTPCaching
import HTTPMessage
import ProxyAdmin
import ResponseStore

/// The store that a verb is about: a running Larder's, or a file.
struct CachePlace: ParsableArguments {
    @OptionGroup var settings: SettingsOptions

    @Option(help: ArgumentHelp("A store's file, read without asking a running Larder.", valueName: "path"))
    var store: String?

    enum Access {
        case running(RunningCache)
        case file(StoreFileAccess)
    }

    /// - Throws: exit code 1 or 2 after saying what is wrong.
    func open() throws -> Access {
        let loaded = try settings.load()
        if store == nil, let path = AdminSocketPath.of(loaded.settings, loaded.sources.environment) {
            do throws(AdminClient.Failure) {
                // Only to see that somebody listens: each question has a connection of its own.
                _ = try AdminClient(path: path)
                return .running(RunningCache(path: path))
            } catch {
                guard case .notRunning = error else {
                    Terminal.talk("larder: \(error)\n")
                    throw ExitCode.failure
                }
            }
        }
        let path = try store ?? ServingPlan(loaded).storePath
        guard path != ":memory:" else {
            Terminal.talk("larder: the store stands in memory, and no Larder is running\n")
            throw ExitCode.failure
        }
        return .file(try StoreFileAccess(path: path, settings: loaded.settings))
    }
}

/// A running Larder's store, asked over the admin socket.
struct RunningCache {
    let path: String

    /// - Throws: exit code 1 after saying what the answer was, where it is none.
    func send(
        _ method: String, _ name: String, _ parameters: [(String, String)], into take: (ArraySlice<UInt8>) -> Void
    ) throws {
        guard try sendIfThere(method, name, parameters, into: take) else {
            Terminal.talk("larder: no such response is stored\n")
            throw ExitCode.failure
        }
    }

    func print(_ method: String, _ name: String, _ parameters: [(String, String)]) throws {
        try send(method, name, parameters) { Terminal.output(bytes: $0) }
    }

    func ask(_ method: String, _ name: String, _ parameters: [(String, String)]) throws -> String {
        var answer: [UInt8] = []
        try send(method, name, parameters) { answer += $0 }
        return String(decoding: answer, as: UTF8.self)
    }

    /// - Returns: `nil` where there is no such response.
    func askIfThere(_ method: String, _ name: String, _ parameters: [(String, String)]) throws -> String? {
        var answer: [UInt8] = []
        return try sendIfThere(method, name, parameters) { answer += $0 } ? String(decoding: answer, as: UTF8.self) : nil
    }

    private func sendIfThere(
        _ method: String, _ name: String, _ parameters: [(String, String)], into take: (ArraySlice<UInt8>) -> Void
    ) throws -> Bool {
        func encoded(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text }
        let query = parameters.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
        do throws(AdminClient.Failure) {
            let client = try AdminClient(path: path)
            var refusal: [UInt8] = []
            let status = try client.send(method, "/v1/cache/\(name)?\(query)", accept: "application/json") { bytes, status in
                if status.isSuccessful { take(bytes) } else { refusal += bytes }
            }
            if status.isSuccessful { return true }
            if status.code == 404 { return false }
            let detail = JSONAnswer(String(decoding: refusal, as: UTF8.self))["detail"] as? String
            Terminal.talk("larder: \(printable(detail ?? "answer \(status.code)", limit: 1000))\n")
        } catch {
            Terminal.talk("larder: \(error)\n")
        }
        throw ExitCode.failure
    }
}

/// A store's file that no process has open, or is asked about past the one that has.
final class StoreFileAccess {
    let source: CacheSource
    let now: Timestamp
    private let path: String
    private let settings: LarderSettings

    init(path: String, settings: LarderSettings) throws {
        self.path = path
        self.settings = settings
        now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        guard FileManager.default.fileExists(atPath: path) else {
            Terminal.talk("larder: there is no store: \(printable(path, limit: 4096)) does not exist\n")
            throw ExitCode.failure
        }
        do throws(StoreError) {
            source = CacheSource(try StoreBrowser(path: path)) { StoreFileAccess.tell($0) }
        } catch {
            guard error.code == .damaged else {
                StoreFileAccess.tell(error)
                throw ExitCode.failure
            }
            source = CacheSource(damaged: error) { StoreFileAccess.tell($0) }
        }
    }

    func find(_ place: CacheSource.Place) -> [FoundResponse]? { source.find(place) }

    func print(_ next: () -> AdminPiece) throws { try send(next) { Terminal.output(bytes: $0) } }

    func send(_ next: () -> AdminPiece, into take: (ArraySlice<UInt8>) -> Void) throws {
        while true {
            switch next() {
            case .piece(let bytes): take(bytes[...])
            case .end: return
            case .broken: throw ExitCode.failure
            }
        }
    }

    func forEach(_ filter: StoreFilter, _ body: (StoredEntry) throws -> Void) throws {
        guard try source.forEach(filter, at: now, body) else { throw ExitCode.failure }
    }

    func count(_ filter: StoreFilter) throws -> Int {
        var count = 0
        try forEach(filter) { _ in count += 1 }
        return count
    }

    /// Takes the store's lock, so that no other process has it meanwhile.
    /// - Throws: exit code 1 after saying how far it came: a file that cannot be written stays what it was.
    func purge(_ filter: StoreFilter, isSoft: Bool) throws -> Int {
        let store = try openForWriting()
        defer { store.shutdown() }
        let report = PurgeReport()
        store.purge(.matching(filter), isSoft: isSoft, at: now, report: report.take)
        var isInEffect = false
        while true {
            switch report.next() {
            case .inEffect: isInEffect = true
            case .done(let count): return count
            case .interrupted:
                let state = isInEffect ? "is in effect, and deleting goes on when Larder next runs" : "was not carried out"
                Terminal.talk("larder: the purge \(state)\n")
                throw ExitCode.failure
            case nil: break
            }
        }
    }

    private func openForWriting() throws -> ResponseStore {
        var configuration = ServerAssembly.store(settings, path: path) { [path] notice in
            switch notice {
            case .writeFailed(let detail):
                Terminal.talk("larder: \(printable(path, limit: 4096)): \(printable(detail, limit: 4096))\n")
            default: Terminal.talk("larder: \(StoreNotices.text(notice))\n")
            }
        }
        configuration.role = .kept
        do throws(StoreError) {
            return try ResponseStore(configuration)
        } catch {
            StoreFileAccess.tell(error)
            throw ExitCode.failure
        }
    }

    private static func tell(_ error: StoreError) { Terminal.talk("larder: \(printable("\(error)", limit: 4096))\n") }
}

/// A JSON answer that was asked for by this program's own words.
struct JSONAnswer {
    private let value: Any?

    init(_ text: String) {
        // What is no JSON has no members.
        value = try? JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    subscript(name: String) -> Any? { (value as? [String: Any])?[name] }

    var first: [String: Any]? { (value as? [[String: Any]])?.first }
}
