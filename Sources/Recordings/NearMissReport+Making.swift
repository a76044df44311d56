import HTTPMessage
import HTTPSerialization
import ProxyCore
import Snapshots

extension NearMissReport {
    /// How many are told.
    private static let count = 5

    /// - Parameters:
    ///   - found: of all layers, those of the first layer first.
    ///   - reason: is told of a recording in which nothing differs.
    init(_ found: [NearMiss], _ reason: MissReason) {
        // Sorting keeps no order of equals by itself.
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
    /// One line for people.
    fileprivate func line(_ reason: MissReason) -> String {
        let line = text.split(separator: "\n").map { line in line.drop { $0 == " " } }.joined(separator: "; ")
        return differences.isEmpty ? line + ": " + reason.rawValue : line
    }

    /// For the log, which tells neither queries nor values.
    fileprivate func summary(_ reason: MissReason) -> String {
        let path = uri.prefix { $0 != ASCII.question }
        let names = differences.isEmpty ? reason.rawValue : differences.map(\.name).joined(separator: ", ")
        return "\(String(decoding: method, as: UTF8.self)) \(String(decoding: path, as: UTF8.self)): \(names)"
    }
}
