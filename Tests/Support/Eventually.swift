import Glibc

/// The deadline of every wait in the tests: a minute, which only a hang reaches, not load.
package enum Deadline {
    /// Two thirds of the time after which scripts/test.sh expects output: longer under a sanitizer.
    package static let seconds = (getenv("LARDER_TEST_DEADLINE").flatMap { Int(String(cString: $0)) } ?? 90) * 2 / 3
    package static let milliseconds = Int32(seconds * 1000)
}

/// Thrown if a condition did not become true within the deadline.
package struct NeverHappened: Error, CustomStringConvertible {
    let place: String

    package var description: String { "\(place): the condition did not hold within \(Deadline.seconds) s" }
}

/// Waits for a condition that no event signals. A test that can wait for an event must do that instead.
package func eventually(_ condition: () throws -> Bool, fileID: String = #fileID, line: Int = #line) throws {
    let deadline = ContinuousClock.now + .seconds(Deadline.seconds)
    while try !condition() {
        guard ContinuousClock.now < deadline else { throw NeverHappened(place: "\(fileID):\(line)") }
        usleep(2000)
    }
}

/// The same in a task, without blocking its thread.
package func until(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool, fileID: String = #fileID,
    line: Int = #line
) async throws {
    let deadline = ContinuousClock.now + .seconds(Deadline.seconds)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw NeverHappened(place: "\(fileID):\(line)") }
        try await Task.sleep(for: .milliseconds(2))
    }
}
