import Foundation
import TestSupport

/// Reloads the settings again and again on a thread of its own, alternately with and without a deny rule.
final class ReloadLoop {
    init(_ proxy: TestProxy, started: Gate, ended: Gate) throws {
        let texts = ["rules: [{name: no, deny: {reason: closed}}]", ""]
        nonisolated(unsafe) let proxy = proxy  // any thread may call reload
        Thread {
            started.wait()
            for turn in 0..<50 { try? proxy.reload(texts[turn % 2]) }  // both texts were read before
            ended.open()
        }.start()
    }
}
