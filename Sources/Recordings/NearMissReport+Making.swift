import HTTPMessage
import HTTPSerialization
import ProxyCore
import Snapshots

extension NearMissReport {
    /// The number of near misses in a report.
    private static let count = 5

    /// - Parameters:
    ///   - found: the near misses of all replay sources, those of the first source first.
    ///   - reason: the reason of the miss, which the report gives for a recording without differences.
    init(_ found: [NearMiss], _ reason: MissReason) {
        // `sorted` is not guaranteed to be stable.
        let ranked = found.enumerated().sorted {
            ($0.element.differences.count, $0.offset) < ($1.element.differences.count, $1.offset)
        }
        let nearest = ranked.prefix(Self.count).map(\.element)
        self.init(
            json: Array(JSONValue.array(nearest.map(\.json)).text()), lines: nearest.map { $0.line(reason) },
            summary: nearest.first.map { Array($0.summary(reason).utf8) } ?? [])
    }
}

extension NearMiss {
    /// The near miss as one line of text for users.
    fileprivate func line(_ reason: MissReason) -> String {
        let line = text.split(separator: "\n").map { line in line.drop { $0 == " " } }.joined(separator: "; ")
        return differences.isEmpty ? line + ": " + reason.rawValue : line
    }

    /// A text for the log, without queries and values.
    fileprivate func summary(_ reason: MissReason) -> String {
        let path = uri.prefix { $0 != ASCII.question }
        let names = differences.isEmpty ? reason.rawValue : differences.map(\.name).joined(separator: ", ")
        return "\(String(decoding: method, as: UTF8.self)) \(String(decoding: path, as: UTF8.self)): \(names)"
    }
}
