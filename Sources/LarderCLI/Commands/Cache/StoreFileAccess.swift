import ArgumentParser
import CommandSupport
import Foundation
import HTTPCaching
import HTTPMessage
import LarderSettings
import ProxyAdmin
import ResponseStore
import TextCoding

/// A store's file that is read directly, whether or not another process has it open.
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
            Terminal.talk("larder: there is no store at `\(printable(path, limit: 4096))`\n")
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
            case .notYet: preconditionFailure("the contents of a file are never awaited")
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

    /// Purges the responses while it holds the store's lock, so that no other process uses the file meanwhile.
    /// - Throws: exit code 1, after reporting whether the purge is in effect. If the file cannot be written, it stays unchanged.
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
                let state = isInEffect ? "is in effect; Larder finishes deleting when it next runs" : "was not carried out"
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
