import Foundation
import Synchronization

/// The program that is being tested, so that it can be ended.
package final class TrialProcess: Sendable {
    private let number = Atomic<pid_t>(0)

    package init() {}

    /// - Parameter process: leads its own process group.
    func begin(_ process: pid_t) { number.store(process, ordering: .releasing) }

    func end() { number.store(0, ordering: .releasing) }

    /// Kills it and its children.
    package func kill() {
        let process = number.load(ordering: .acquiring)
        if process > 0 { _ = Foundation.kill(-process, SIGKILL) }
    }
}
