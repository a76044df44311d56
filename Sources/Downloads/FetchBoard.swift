import EventLoop
import Foundation

/// The progress of all transfers, for display. Written by the tasks that fetch.
package final class FetchBoard: Sendable {
    enum Phase: Sendable { case asking, receiving, waiting, checking }

    struct ItemProgress: Sendable {
        var label: String
        var phase = Phase.asking
        var done: UInt64 = 0
        var total: UInt64?
        var rate = RateMeter()
        var kept: UInt64 = 0
    }

    /// A message that is shown once.
    struct Line: Sendable {
        let text: String
        var isFailure = false
    }

    private struct State {
        /// The transfers in the order in which they started.
        var rows: [(number: Int, standing: ItemProgress)] = []
        var lines: [Line] = []
        var rate = RateMeter()
        var finished = 0
        var failed = 0
    }

    struct Picture: Sendable {
        let rows: [ItemProgress]
        /// The messages to show once, in order.
        let lines: [Line]
        let rate: RateMeter
        let finished: Int
        let failed: Int
    }

    /// The total number of URLs.
    let count: Int
    private let state = Guarded(State())

    package init(count: Int) { self.count = count }

    /// The progress of one URL.
    struct Row: Sendable {
        fileprivate let board: FetchBoard
        fileprivate let number: Int
        let label: String

        func say(_ text: String) { board.say("\(label): \(text)") }
        func enter(_ phase: Phase) { change { $0.phase = phase } }
        var phase: Phase { board.standing(number)?.phase ?? .asking }

        /// The content starts at this offset.
        func begin(at offset: UInt64, of total: UInt64?, keeping kept: UInt64) {
            change { row in
                row.phase = .receiving
                row.done = offset
                row.total = total
                row.kept = kept
            }
        }

        func add(_ count: Int) { board.add(count, number) }

        /// The number of bytes that are kept for a later run.
        func noteKept(_ length: UInt64) { change { $0.kept = length } }
        var kept: UInt64 { board.standing(number)?.kept ?? 0 }

        private func change(_ body: (inout ItemProgress) -> Void) { board.change(number, body) }
    }

    func begin(_ number: Int, label: String) -> Row {
        state.withLock { $0.rows.append((number, ItemProgress(label: label))) }
        return Row(board: self, number: number, label: label)
    }

    /// - Parameter line: the message that replaces the progress.
    func end(_ row: Row, failed: Bool, _ line: String) {
        state.withLock { state in
            state.rows.removeAll { $0.number == row.number }
            state.finished += 1
            if failed { state.failed += 1 }
            state.lines.append(Line(text: line, isFailure: failed))
        }
    }

    func say(_ line: String) { state.withLock { $0.lines.append(Line(text: line)) } }

    /// The current progress, and the messages that were not shown yet. They are then removed from the board.
    func picture() -> Picture {
        state.withLock { state in
            defer { state.lines = [] }
            return Picture(
                rows: state.rows.map(\.standing), lines: state.lines, rate: state.rate, finished: state.finished,
                failed: state.failed)
        }
    }

    private func standing(_ number: Int) -> ItemProgress? {
        state.withLock { state in state.rows.first { $0.number == number }?.standing }
    }

    private func change(_ number: Int, _ body: (inout ItemProgress) -> Void) {
        state.withLock { state in
            guard let place = state.rows.firstIndex(where: { $0.number == number }) else { return }
            body(&state.rows[place].standing)
        }
    }

    private func add(_ count: Int, _ number: Int) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.rate.add(UInt64(count), at: now)
            guard let place = state.rows.firstIndex(where: { $0.number == number }) else { return }
            state.rows[place].standing.done += UInt64(count)
            state.rows[place].standing.rate.add(UInt64(count), at: now)
        }
    }
}

/// Bytes per second, over the last few seconds.
struct RateMeter: Sendable {
    private(set) var total: UInt64 = 0
    private var marks: [(time: ContinuousClock.Instant, total: UInt64)] = []

    private static let interval: Duration = .milliseconds(250)
    private static let markLimit = 20

    mutating func add(_ count: UInt64, at now: ContinuousClock.Instant) {
        if marks.isEmpty { marks.append((now, 0)) }
        total += count
        guard let last = marks.last, last.time.duration(to: now) >= Self.interval else { return }
        marks.append((now, total))
        if marks.count > Self.markLimit { marks.removeFirst() }
    }

    /// The rate in bytes per second; `nil` until there is enough data.
    func rate(at now: ContinuousClock.Instant) -> Double? {
        guard let first = marks.first else { return nil }
        let time = first.time.duration(to: now) / .seconds(1)
        return time > 0.2 ? Double(total - first.total) / time : nil
    }
}
