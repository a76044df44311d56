import CommandSupport
import EventLoop
import Foundation
import HTTPMessage
import ProxyServer
import ResponseStore
import SharedTier

/// Joins the shared tier to the server, which is made after the tier.
final class TierBinding: Sendable {
    private struct State {
        var server: ProxyServer?
        var isCurrent = false
        var hasEnded = false
    }

    private let state = Guarded(State())
    private let markPath: String?
    private let now: @Sendable () -> Timestamp
    private let warn: @Sendable (String) -> Void

    /// - Parameter storePath: the file of the store; the mark of the last purge is kept beside it. `nil` for a store in memory.
    init(
        storePath: String?, now: @escaping @Sendable () -> Timestamp = { .now }, warn: @escaping @Sendable (String) -> Void
    ) {
        self.now = now
        markPath = storePath.map { $0 + ".farm" }
        self.warn = warn
    }

    var hooks: TierHooks {
        TierHooks(
            purge: { [self] purge, report in
                guard let server = state.withLock({ $0.server }) else { return false }
                return server.purge(purge.request, isSoft: purge.isSoft, at: now(), report: report)
            },
            setCurrent: { [self] isCurrent in setCurrent(isCurrent) },
            loadMark: { [self] in markPath.flatMap(Self.mark) },
            saveMark: { [self] in save($0) },
            warn: warn, now: now)
    }

    /// Called once the server exists, and with `nil` before it ends.
    func bind(_ server: ProxyServer?) {
        let isCurrent = state.withLock { state in
            state.server = server
            return state.isCurrent
        }
        server?.validateStored(!isCurrent)
    }

    private func setCurrent(_ isCurrent: Bool) {
        let server = state.withLock { state in
            state.isCurrent = isCurrent
            return state.server
        }
        server?.validateStored(!isCurrent)
    }

    // MARK: The mark

    private static let magic = "larder-farm 1"

    /// A file that cannot be read counts as absent: the stored responses are then validated before they are used.
    private static func mark(at path: String) -> FarmMark? {
        guard let bytes = try? LocalFile.bytes(at: path, atMost: 4096) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        guard lines.count == 3, lines[0] == magic, let generation = Int64(lines[2]), generation >= 0 else { return nil }
        return FarmMark(epoch: Array(lines[1].utf8), generation: generation)
    }

    private func save(_ mark: FarmMark) {
        guard let markPath else { return }
        let text = "\(Self.magic)\n\(String(decoding: mark.epoch, as: UTF8.self))\n\(mark.generation)\n"
        do throws(WholeFile.Unwritten) {
            try WholeFile.write(Array(text.utf8), to: markPath, replaces: true)
        } catch {
            // Without the mark, the next process validates all stored responses.
            warn("cannot write \(markPath): \(error.reason)")
        }
    }
}
