import EventLoop
import Foundation
import TestSupport

@testable import ResponseStore

/// Tests wait for these events of the proxy, never for a time.
extension TestProxy {
    /// Returns when every loop has handled everything that arrived before the call.
    func settle() {
        // Earlier events are in the same batch as the first message or in an earlier batch, so they all precede the second message.
        for _ in 0..<2 { pass(seconds: 0) }
    }

    /// Returns when every body in flight to the store can be found there or has failed.
    func waitUntilStored() {
        for pending in store.core.pendingResponses.all {
            let isStored = DispatchSemaphore(value: 0)
            pending.whenStored { _ in isStored.signal() }
            isStored.wait()
        }
    }

    /// Whether the complete response of this key is stored, in memory or on the disk.
    func isStored(_ key: [UInt8]) -> Bool {
        let found = DispatchSemaphore(value: 0)
        let isStored = Guarded(false)
        store.lookUp(key) { result in
            if case .found(let variants) = result, !variants.responses.isEmpty { isStored.withLock { $0 = true } }
            found.signal()
        }
        found.wait()
        return isStored.withLock { $0 }
    }

    /// The JSON objects of the log, once there are `count` of them. The writer gathers lines for 0.1 s.
    func loggedLines(_ count: Int) throws -> [[String: Any]] {
        let growth = try FileGrowth(of: logPath)
        while true {
            // The last line may be incomplete.
            let lines = try String(contentsOfFile: logPath, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false
            )
            .dropLast()
            if lines.count >= count {
                return try lines.compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
            }
            guard growth.wait() else { throw NeverLogged(count: count, lines: lines.map(String.init)) }
        }
    }
}

struct NeverLogged: Error {
    let count: Int
    let lines: [String]
}
