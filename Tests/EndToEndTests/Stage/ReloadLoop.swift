import Foundation
import TestSupport

/// Reads settings again and again, with and without a rule that denies, on a thread of its own.
final class ReloadLoop {
    init(_ proxy: TestProxy, started: Gate, ended: Gate) throws {
        let texts = ["rules: [{name: no, deny: {reason: closed}}]", ""]
        nonisolated(unsafe) let proxy = proxy  // reload may be called on any thread
        Thread {
            started.wait()
            for turn in 0..<50 { try? proxy.reload(texts[turn % 2]) }  // both were read before
            ended.open()
        }.start()
    }
}
