import EventLoop
import LarderHTTP
import TextCoding

/// Assigns the file names of one run of `larder fetch` in the output folder: no two URLs get the same name.
///
/// A name in a list belongs to its line; if two lines have the same name, nothing is fetched. Of equal suggested names the second becomes
/// `name.1`, as in wget. Names from URLs are assigned before anything is fetched, in the order of the URLs. So the names do not depend on
/// the order of the responses, except names that only a response suggests.
package final class FetchNames: Sendable {
    private struct State {
        var owners: [String: Int] = [:]
        /// The name that each URL has, and the suggested name it was made from.
        var claims: [Int: (suggested: String, name: String)] = [:]
        /// The last number appended to a name.
        var numbers: [String: Int] = [:]
    }

    private let state = Guarded(State())

    init(_ items: [FetchItem]) {
        state.withLock { state in
            for (number, item) in items.enumerated() {
                if let name = item.name { state.owners[name] = number }
            }
            for (number, item) in items.enumerated() where item.name == nil {
                _ = Self.claim(SuggestedName.name(for: SessionFields(), item.uri), for: number, &state)
            }
        }
    }

    /// Returns the file name to use for a suggested name: the same name, or `name.1` and so on if another URL of this run has that name.
    func claim(_ suggested: String, for number: Int) -> String {
        state.withLock { Self.claim(suggested, for: number, &$0) }
    }

    private static func claim(_ suggested: String, for number: Int, _ state: inout State) -> String {
        if let claim = state.claims[number] {
            if claim.suggested == suggested { return claim.name }
            state.owners[claim.name] = nil
        }
        var name = suggested
        while state.owners[name] != nil {
            let next = state.numbers[suggested, default: 0] + 1
            state.numbers[suggested] = next
            name = "\(suggested).\(next)"
        }
        state.owners[name] = number
        state.claims[number] = (suggested, name)
        return name
    }

    // MARK: Names known in advance

    /// - Throws: an error for the first item that would be written to the same file as an earlier item.
    package static func check(_ items: [FetchItem]) throws(FetchFailure) {
        var named: [String: FetchItem] = [:]
        var unnamed: [String: FetchItem] = [:]
        for item in items {
            if let name = item.name {
                if let first = named.updateValue(item, forKey: name) {
                    throw fault(item, "\(words(first)) already uses the file name '\(printable(name))'")
                }
            } else if let first = unnamed.updateValue(item, forKey: item.uri.description) {
                throw fault(item, "\(words(first)) already fetches \(item.label) to the same file")
            }
        }
    }

    private static func fault(_ item: FetchItem, _ sentence: String) -> FetchFailure {
        let place = item.place.map { "\($0.list):\($0.line):\($0.column): " } ?? ""
        return FetchFailure(.usage, "same_file", place + sentence)
    }

    private static func words(_ item: FetchItem) -> String { item.place.map { "line \($0.line)" } ?? "the command line" }
}
