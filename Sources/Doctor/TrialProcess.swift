import Foundation
import Synchronization

/// The process of the program that is being tested, which a time limit or a signal can end.
package final class TrialProcess: Sendable {
    private let number = Atomic<pid_t>(0)

    package init() {}

    /// - Parameter process: the ID of the process, which leads its own process group.
    func begin(_ process: pid_t) { number.store(process, ordering: .releasing) }

    func end() { number.store(0, ordering: .releasing) }

    /// Kills the process and its children.
    package func kill() {
        let process = number.load(ordering: .acquiring)
        if process > 0 { _ = Foundation.kill(-process, SIGKILL) }
    }
}
