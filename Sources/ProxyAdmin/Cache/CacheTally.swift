import HTTPCaching
import HTTPMessage
import ResponseStore
import TextCoding

/// Totals of stored responses: overall, and by host, status and type.
struct CacheTally {
    private struct Sum {
        var count = 0
        var bytes: UInt64 = 0
    }

    /// The maximum number of hosts, statuses or types that are counted separately; further ones are counted together.
    private static let limit = 4096
    private static let shown = 10

    private var all = Sum()
    private var fresh = Sum()
    private var stale = Sum()
    private var memoryOnly = Sum()
    private var partial = Sum()
    private var groups: [String: [String: Sum]] = [:]

    mutating func add(_ entry: borrowing StoredEntry, at now: Timestamp) {
        let length = entry.storedLength
        CacheTally.add(length, to: &all)
        if entry.facts.isFresh(at: now) { CacheTally.add(length, to: &fresh) } else { CacheTally.add(length, to: &stale) }
        if entry.isMemoryOnly { CacheTally.add(length, to: &memoryOnly) }
        if entry.isPartial { CacheTally.add(length, to: &partial) }
        let parts = entry.url.split(separator: ASCII.slash, maxSplits: 3, omittingEmptySubsequences: false)
        add(length, to: "hosts", parts.count > 2 ? parts[2] : [])
        add(length, to: "types", entry.contentType.prefix { $0 != ASCII.semicolon && $0 != ASCII.space })
        add(length, to: "statuses", Array("\(entry.facts.status.code)".utf8)[...])
    }

    var text: String {
        var text = CacheTally.line("responses", all) + CacheTally.line("fresh", fresh) + CacheTally.line("stale", stale)
        if partial.count > 0 { text += CacheTally.line("partial", partial) }
        if memoryOnly.count > 0 { text += CacheTally.line("in memory only", memoryOnly) }
        for group in ["hosts", "types", "statuses"] {
            text += "\(group)\n"
            for (name, sum) in greatest(group) { text += CacheTally.line("  \(name)", sum) }
        }
        return text
    }

    var json: JSONText {
        .object(
            [
                ("all", CacheTally.json(all)), ("fresh", CacheTally.json(fresh)), ("stale", CacheTally.json(stale)),
                ("partial", CacheTally.json(partial)), ("memory_only", CacheTally.json(memoryOnly)),
            ]
                + ["hosts", "types", "statuses"].map { group in
                    (group, .array(greatest(group).map { .object([("name", .string($0.0))] + CacheTally.members($0.1)) }))
                })
    }

    private mutating func add(_ length: UInt64, to group: String, _ name: ArraySlice<UInt8>) {
        var visible: [UInt8] = []
        EntryText.append(visible: name, into: &visible)
        var name = String(decoding: visible, as: UTF8.self)
        if groups[group]?[name] == nil, groups[group]?.count ?? 0 >= CacheTally.limit { name = "others" }
        CacheTally.add(length, to: &groups[group, default: [:]][name, default: Sum()])
    }

    private func greatest(_ group: String) -> [(String, Sum)] {
        let sums = (groups[group] ?? [:]).sorted { ($0.value.bytes, $1.key) > ($1.value.bytes, $0.key) }
        return sums.prefix(CacheTally.shown).map { ($0.key.isEmpty ? "-" : $0.key, $0.value) }
    }

    private static func add(_ length: UInt64, to sum: inout Sum) {
        sum.count += 1
        sum.bytes = sum.bytes.addingUpToMax(length)
    }

    private static func line(_ name: String, _ sum: Sum) -> String {
        let blanks = String(repeating: " ", count: max(1, 40 - name.utf8.count))
        return "\(name)\(blanks)\(sum.count), \(EntryText.size(sum.bytes))\n"
    }

    private static func members(_ sum: Sum) -> [(String, JSONText)] {
        [("count", .number(sum.count)), ("bytes", .count(sum.bytes))]
    }

    private static func json(_ sum: Sum) -> JSONText { .object(members(sum)) }
}
