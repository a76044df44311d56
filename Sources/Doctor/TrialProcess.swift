import Foundation
import Synchronization

/// The program that is being tried, for who has to end it.
package final class TrialProcess: Sendable {
    private let number = Atomic<pid_t>(0)

    package init() {}

    /// - Parameter process: leads a group of its own.
    func begin(_ process: pid_t) { number.store(process, ordering: .releasing) }

    func end() { number.store(0, ordering: .releasing) }

    /// Ends it and whatever it has begun.
    package func kill() {
        let process = number.load(ordering: .acquiring)
        if process > 0 { _ = Foundation.kill(-process, SIGKILL) }
    }
}
