import CommandSupport
import EventLoop
import Foundation
import LarderHTTP
import TextCoding

/// Fetches all URLs of one run of `larder fetch` in order, a limited number of them at once.
package struct FetchAll: Sendable {
    /// The outcome of one URL.
    package struct Ending: Sendable {
        let item: FetchItem
        package let result: Result<FetchedFile, FetchFailure>
        let time: Duration
        /// The number of bytes that are kept for a later run.
        let keptLength: UInt64

        package var isInterrupted: Bool {
            if case .failure(let failure) = result { failure.kind == .interrupted } else { false }
        }
    }

    let items: [FetchItem]
    let terms: FetchTerms
    let session: HTTPSession
    let board: FetchBoard
    let names: FetchNames
    /// Called with the outcome of each URL as soon as it is known.
    let tell: @Sendable (Ending) -> Void

    package init(
        items: [FetchItem], terms: FetchTerms, session: HTTPSession, board: FetchBoard, tell: @escaping @Sendable (Ending) -> Void
    ) {
        self.items = items
        self.terms = terms
        self.session = session
        self.board = board
        self.tell = tell
        names = FetchNames(items)
    }

    /// - Returns: the outcomes in the order of the items, without the items that were not started because of an interruption.
    package func run() async -> [Ending] {
        await withTaskGroup(of: (Int, Ending).self) { group in
            var endings: [(Int, Ending)] = []
            var next = 0
            func begin() {
                guard next < items.count, !Task.isCancelled else { return }
                let number = next
                next += 1
                group.addTask { (number, await fetch(number)) }
            }
            for _ in 0..<terms.atOnce { begin() }
            for await ending in group {
                endings.append(ending)
                tell(ending.1)
                begin()
            }
            return endings.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func fetch(_ number: Int) async -> Ending {
        let item = items[number]
        let row = board.begin(number, label: label(item))
        let began = ContinuousClock.now
        let result: Result<FetchedFile, FetchFailure>
        do throws(FetchFailure) {
            let run = FetchRun(item: item, terms: terms, session: session, row: row) { names.claim($0, for: number) }
            result = .success(try await run.run())
        } catch { result = .failure(error) }
        let time = began.duration(to: .now)
        let kept = row.kept
        let (line, failed) = Self.line(row.label, result, time, kept)
        board.end(row, failed: failed, line)
        return Ending(item: item, result: result, time: time, keptLength: kept)
    }

    /// The file's name for messages: the name that the file will have, or the name that the URL suggests.
    private func label(_ item: FetchItem) -> String {
        if case .file(let path) = terms.place { return printable(String(path.split(separator: "/").last ?? ""), limit: 100) }
        let name = item.name ?? item.uri.path.split(separator: "/").last.map(String.init) ?? item.uri.host
        return printable(name, limit: 100)
    }

    private static func line(
        _ label: String, _ result: Result<FetchedFile, FetchFailure>, _ time: Duration, _ kept: UInt64
    ) -> (String, failed: Bool) {
        switch result {
        case .success(let file):
            if file.wasThere { return ("\(printable(file.path, limit: 4096)): already complete, \(digests(file))", false) }
            let fetched = file.length - file.keptLength
            var line = "\(file.path == "-" ? label : printable(file.path, limit: 4096)): \(Quantity.text(file.length))"
            if file.keptLength > 0 { line += ", \(Quantity.text(fetched)) downloaded now" }
            line += " in \(Quantity.time(time))"
            let seconds = time / .seconds(1)
            if seconds > 0.05, fetched > 0 { line += ", \(Quantity.rate(Double(fetched) / seconds))" }
            if file.isFromStore { line += ", from the store" }
            if !file.digests.isEmpty { line += ", \(digests(file))" }
            return (line, false)
        case .failure(let failure):
            var line = "\(label): \(failure.sentence)"
            if kept > 0 { line += "; kept \(Quantity.text(kept)): run the same command to resume" }
            return (line, true)
        }
    }

    private static func digests(_ file: FetchedFile) -> String {
        let names = Set(file.digests.map { $0.algorithm.rawValue.filter { $0 != "-" } }).sorted().joined(separator: " and ")
        return "\(names) matches"
    }
}
