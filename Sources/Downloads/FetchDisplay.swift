import CLarderLinux
import CommandSupport
import Foundation
import Synchronization

/// Shows the progress on standard error, from its own thread: on a terminal as lines that are redrawn, otherwise as a plain line from
/// time to time.
package final class FetchDisplay: Sendable {
    enum Form: Sendable {
        /// Show only failures.
        case quiet
        case plain
        case terminal
    }

    private let board: FetchBoard
    private let form: Form
    private let style: ProgressLine.Style
    private let isEnding = Atomic(false)
    private let ending = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    private static let drawInterval = 0.1
    private static let plainInterval: Duration = .seconds(10)
    /// A transfer that takes less time is not displayed.
    private static let patience: Duration = .milliseconds(300)

    package init(_ board: FetchBoard, isQuiet: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.board = board
        let isTerminal = isatty(2) == 1 && environment["TERM"] != "dumb"
        form = isQuiet ? .quiet : isTerminal ? .terminal : .plain
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let words = locale.lowercased()
        style = ProgressLine.Style(
            isColoured: Terminal.Style(environment: environment).isColoured,
            isUnicode: words.contains("utf-8") || words.contains("utf8"))
        Thread.detachNewThread { self.show() }
    }

    /// Shows the last messages, and removes the bars.
    package func close() {
        isEnding.store(true, ordering: .releasing)
        ending.signal()
        ended.wait()
    }

    private func show() {
        let began = ContinuousClock.now
        var drawn = 0
        var told = began
        while true {
            let isLast = isEnding.load(ordering: .acquiring)
            let picture = board.picture()
            let now = ContinuousClock.now
            switch form {
            case .quiet: for line in picture.lines where line.isFailure { Terminal.talk(line.text + "\n") }
            case .plain:
                for line in picture.lines { Terminal.talk(line.text + "\n") }
                if !isLast, told.duration(to: now) >= Self.plainInterval {
                    told = now
                    for row in picture.rows { Terminal.talk(Self.plain(row, now) + "\n") }
                }
            case .terminal:
                let rows = isLast || began.duration(to: now) < Self.patience ? [] : bars(picture, now)
                drawn = draw(picture.lines.map(\.text), rows, over: drawn)
            }
            if isLast { break }
            _ = ending.wait(timeout: .now() + Self.drawInterval)
        }
        ended.signal()
    }

    private static func plain(_ row: FetchBoard.ItemProgress, _ now: ContinuousClock.Instant) -> String {
        ProgressLine.plain(
            label: row.label, done: row.done, total: row.total, rate: row.rate.rate(at: now), note: note(row.phase))
    }

    private static func note(_ phase: FetchBoard.Phase) -> String? {
        switch phase {
        case .asking: "asking"
        case .waiting: "waiting"
        case .checking: "checking"
        case .receiving: nil
        }
    }

    // MARK: Display on a terminal

    private func bars(_ picture: FetchBoard.Picture, _ now: ContinuousClock.Instant) -> [String] {
        let (width, height) = Self.size()
        // The last column stays empty, because some terminals wrap the line when it is written.
        let rows = picture.rows.prefix(max(1, height - 2))
        let labelWidth = rows.map(\.label.count).max()
        var lines = rows.map { row in
            ProgressLine.bar(
                label: row.label, labelWidth: labelWidth, done: row.done, total: row.total, rate: row.rate.rate(at: now),
                note: Self.note(row.phase),
                width: width - 1, style: style)
        }
        if board.count > 1 {
            var sum = "\(picture.finished) of \(board.count) done"
            if picture.failed > 0 { sum += ", \(picture.failed) failed" }
            if let rate = picture.rate.rate(at: now) { sum += "  \(Quantity.text(picture.rate.total))  \(Quantity.rate(rate))" }
            lines.append(String(sum.prefix(width - 1)))
        }
        return lines
    }

    /// Draws with a single write, so that no partial state is visible.
    /// - Parameter former: the number of bar lines on the screen.
    /// - Returns: the number of bar lines now.
    private func draw(_ lines: [String], _ bars: [String], over former: Int) -> Int {
        if lines.isEmpty, bars.isEmpty, former == 0 { return 0 }
        var text = former > 0 ? "\u{1B}[\(former)A\r\u{1B}[J" : ""
        for line in lines + bars { text += line + "\n" }
        Terminal.talk(text)
        return bars.count
    }

    private static func size() -> (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), max(3, Int(size.ws_row)))
    }
}
