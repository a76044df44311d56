import EventLoop

/// What a sample has printed.
final class SaidLines: Sendable {
    private let said = Guarded<[String]>([])
    var lines: [String] { said.withLock { $0 } }
    func add(_ line: String) { said.withLock { $0.append(line) } }
}
