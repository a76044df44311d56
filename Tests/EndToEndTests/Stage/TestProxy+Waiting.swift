import EventLoop
import Foundation
import TestSupport

@testable import ResponseStore

/// What tests wait for: events of the proxy's, none of them a time.
extension TestProxy {
    /// Returns when every loop has handled what had come to it before.
    func settle() {
        // What had come is in the same batch as the first message, or in an earlier one: all of it lies before the second.
        for _ in 0..<2 { pass(seconds: 0) }
    }

    /// Returns when what is on its way to the store can be found there, or certainly never will be.
    func waitUntilStored() {
        for pending in store.core.pendingResponses.all {
            let isStored = DispatchSemaphore(value: 0)
            pending.whenStored { _ in isStored.signal() }
            isStored.wait()
        }
    }

    /// Whether the whole of a response stands under the key, in memory or on the disk.
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

    /// The objects of the log, once there are so many; the writer gathers lines for a tenth of a second.
    func loggedLines(_ count: Int) throws -> [[String: Any]] {
        let growth = try FileGrowth(of: logPath)
        while true {
            // The last line may still be on its way.
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
