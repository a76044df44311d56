import HTTPMessage

/// The ways in which an origin server may interpret a request's path (T17 and T21 in docs/threats.md).
///
/// A server may decode `%61` once or twice, treat `%2F` or `\` as a slash, and ignore parameters (`;x`). It may also merge
/// several slashes and remove dot segments (RFC 3986 §5.2.4). It may do all this in any order. A server that decodes the target
/// before it looks for the query ends the path at `%3F` or `%23`. A rule that denies `/admin/**` denies the request if any of
/// these readings matches. A request is allowed only if each reading in which the escapes are decoded is allowed. The readings
/// are made once per request, and only for a path with `%`, `\`, `;`, `//` or a segment that begins with a dot; any other path
/// has one reading. The storage is reused.
package struct PathReadings: Sendable {
    /// The maximum number of readings, and the maximum number of bytes in all readings together. The requests of usual programs need
    /// less. If a path needs more, `isComplete` is false.
    static let limit = UInt64.bitWidth
    private static let byteLimit = 256 << 10

    private struct Reading {
        let extent: Extent
        /// Whether the reading has no escapes, or its escapes are decoded at least once. Only such a reading may be the name of a file
        /// that a server looks for.
        var isFinal: Bool
    }

    private var bytes: [UInt8] = []
    /// The readings; the path itself comes first. Empty if the path has only one reading.
    private var readings: [Reading] = []
    private var isMade = false
    /// Whether Larder knows every reading of the path.
    private(set) var isComplete = true

    /// If the storage is larger than this many bytes, it is freed after the request that needed it.
    private static let keptCapacity = 4096

    package init() {}

    package mutating func removeAll() {
        guard isMade else { return }
        isMade = false
        isComplete = true
        readings.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
    }

    /// The readings of `path` that at least one of the patterns matches. With `.any`, the result is `everyPath` if the path matches as
    /// sent, or if some readings are unknown.
    mutating func coverage(of path: Span<UInt8>, by patterns: [PathPattern], as readings: MatchedReadings) -> PathCoverage {
        var coverage = PathCoverage.none
        for pattern in patterns {
            if pattern.matchesEveryPath { return .everyPath }
            switch readings {
            case .asSent: if pattern.matches(path) { coverage.insert(0) }
            case .every: addMatches(of: pattern.decoded, for: path, to: &coverage)
            case .any:
                // The path as sent is compared first, because most paths are written like the pattern. The pattern may contain escapes
                // too.
                if pattern.matches(path) { return .everyPath }
                make(from: path)
                if !isComplete { return .everyPath }
                addMatches(of: pattern, for: path, to: &coverage)
                if pattern.decoded !== pattern { addMatches(of: pattern.decoded, for: path, to: &coverage) }
            }
            // Only `.asSent` may stop at the first match. In the other cases, the results for two lists of patterns may be intersected,
            // so each result must be complete.
            if readings == .asSent, !coverage.isEmpty { return coverage }
        }
        return coverage
    }

    private mutating func addMatches(of pattern: PathPattern, for path: Span<UInt8>, to coverage: inout PathCoverage) {
        make(from: path)
        if readings.isEmpty {
            if pattern.matches(path) { coverage.insert(0) }
            return
        }
        for (number, reading) in readings.enumerated() where pattern.matches(bytes.span.extracting(reading.extent.range)) {
            coverage.insert(number)
        }
    }

    enum Share { case none, some, all }

    /// How many of the readings that a server may use are covered: all, some or none.
    mutating func share(of path: Span<UInt8>, in coverage: PathCoverage) -> Share {
        if coverage.isEveryPath { return .all }
        make(from: path)
        let needed = finalReadings
        let covered = coverage.readings & needed
        if covered == 0 { return .none }
        return covered == needed && isComplete ? .all : .some
    }

    /// The readings that a server may use, with one bit for each. A path that has one reading has one bit.
    private var finalReadings: UInt64 {
        if readings.isEmpty { return 1 }
        var bits: UInt64 = 0
        for (number, reading) in readings.enumerated() where reading.isFinal { bits |= 1 << UInt64(number) }
        return bits
    }

    /// Whether a server that decodes the path before it looks for the query may see another query.
    mutating func mayHideQuery(_ path: Span<UInt8>) -> Bool {
        make(from: path)
        if !isComplete { return true }
        for index in 0..<bytes.count where Self.endsPath(bytes[index]) { return true }
        return false
    }

    /// The readings that a server may use, each once, for explanations. If the path has one reading, only the path itself.
    package mutating func finalTexts(of path: Span<UInt8>) -> [[UInt8]] {
        make(from: path)
        if readings.isEmpty { return [path.withUnsafeBufferPointer { Array($0) }] }
        return readings.filter(\.isFinal).map { Array(bytes[$0.extent.range]) }
    }

    private mutating func make(from path: Span<UInt8>) {
        if isMade { return }
        isMade = true
        guard Self.hasOtherReadings(path) else { return }
        bytes.append(path)
        readings.append(Reading(extent: Extent(0..<bytes.count), isFinal: !Self.hasEscape(path)))
        var first = 0
        addNormalized(from: first)
        for _ in 0..<2 {
            let end = readings.count
            for number in first..<end {
                add(isDecoded: true) { readings, _ in readings.appendDecoded(number, keepsSlashes: false) }
                // Some servers keep an encoded slash within its segment. Other servers decode it: the line above adds that reading, and
                // the next round does it for this one.
                add(isDecoded: false) { readings, _ in readings.appendDecoded(number, keepsSlashes: true) }
            }
            if readings.count == end { return }
            first = end
            addNormalized(from: first)
        }
    }

    /// The paths that a server may use for `path`; `nil` if Larder does not know all of them. A request is allowed only if each of the
    /// paths is allowed.
    package static func texts(of path: [UInt8]) -> [[UInt8]]? {
        var known = PathReadings()
        known.make(from: path.span)
        guard known.isComplete else { return nil }
        if known.readings.isEmpty { return [path] }
        return known.readings.filter(\.isFinal).map { Array(known.bytes[$0.extent.range]) }
    }

    /// To the readings from `first` on, adds all readings that result when segments are removed or joined, in any order.
    private mutating func addNormalized(from first: Int) {
        var number = first
        while number < readings.count, isComplete {
            for step in Step.allCases {
                add(isDecoded: readings[number].isFinal) { readings, start in
                    readings.appendCopy(number)
                    switch step {
                    case .slashes: readings.replaceBackslashes(from: start)
                    case .parameters: readings.removeParameters(from: start)
                    case .emptySegments: readings.mergeSlashes(from: start)
                    case .dotSegments: readings.removeDotSegments(from: start)
                    case .query: readings.removeQuery(from: start)
                    }
                }
            }
            number += 1
        }
    }

    private enum Step: CaseIterable { case slashes, parameters, emptySegments, dotSegments, query }

    /// Adds the reading that `append` writes to the end of `bytes`, unless it is already in the list.
    private mutating func add(isDecoded: Bool, _ append: (inout PathReadings, Int) -> Void) {
        guard isComplete else { return }
        let start = bytes.count
        append(&self, start)
        let made = Extent(start..<bytes.count)
        let known = readings.firstIndex { bytes.span.extracting($0.extent.range).equals(bytes.span.extracting(made.range)) }
        if let known {
            bytes.removeLast(Int(made.count))
            if isDecoded { readings[known].isFinal = true }
            return
        }
        if readings.count == Self.limit || bytes.count > Self.byteLimit {
            isComplete = false
            return
        }
        let isFinal = isDecoded || !Self.hasEscape(bytes.span.extracting(made.range))
        readings.append(Reading(extent: made, isFinal: isFinal))
    }

    private static func hasOtherReadings(_ path: Span<UInt8>) -> Bool {
        for index in 0..<path.count {
            switch path[index] {
            case percent, backslash, semicolon: return true
            case ASCII.slash:
                guard index + 1 < path.count else { continue }
                if path[index + 1] == ASCII.slash || path[index + 1] == dot { return true }
            default: continue
            }
        }
        return false
    }

    private static func hasEscape(_ path: Span<UInt8>) -> Bool {
        for index in 0..<path.count where path[index] == percent {
            if PercentEncoding.byte(in: path, at: index) != nil { return true }
        }
        return false
    }

    private mutating func appendCopy(_ number: Int) {
        for index in readings[number].extent.range { bytes.append(bytes[index]) }
    }

    private mutating func appendDecoded(_ number: Int, keepsSlashes: Bool) {
        let range = readings[number].extent.range
        var index = range.lowerBound
        while index < range.upperBound {
            let decoded = PercentEncoding.byte(in: bytes.span.extracting(range), at: index - range.lowerBound)
            if let decoded, !keepsSlashes || decoded != ASCII.slash {
                bytes.append(decoded)
                index += 3
            } else {
                bytes.append(bytes[index])
                index += 1
            }
        }
    }

    private mutating func replaceBackslashes(from start: Int) {
        for index in start..<bytes.count where bytes[index] == Self.backslash { bytes[index] = ASCII.slash }
    }

    /// Removes the first `?` or `#` and everything after it. In a path, these characters can only be decoded escapes.
    private mutating func removeQuery(from start: Int) {
        for index in start..<bytes.count where Self.endsPath(bytes[index]) { return bytes.removeLast(bytes.count - index) }
    }

    private static func endsPath(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    /// Removes everything from each `;` to the end of its segment.
    private mutating func removeParameters(from start: Int) {
        var end = start
        var isParameter = false
        for index in start..<bytes.count {
            if bytes[index] == ASCII.slash { isParameter = false }
            if bytes[index] == Self.semicolon { isParameter = true }
            if isParameter { continue }
            bytes[end] = bytes[index]
            end += 1
        }
        bytes.removeLast(bytes.count - end)
    }

    private mutating func mergeSlashes(from start: Int) {
        var end = start
        for index in start..<bytes.count {
            if bytes[index] == ASCII.slash, end > start, bytes[end - 1] == ASCII.slash { continue }
            bytes[end] = bytes[index]
            end += 1
        }
        bytes.removeLast(bytes.count - end)
    }

    /// Removes dot segments in place (RFC 3986 §5.2.4); the path must begin with a slash.
    private mutating func removeDotSegments(from start: Int) {
        var end = start
        var index = start
        while index < bytes.count {
            // `index` is at the slash before a segment.
            var next = index + 1
            while next < bytes.count, bytes[next] != ASCII.slash { next += 1 }
            let isLast = next == bytes.count
            let isDot = isSegment(index + 1..<next, ".")
            let isDoubleDot = isSegment(index + 1..<next, "..")
            if isDoubleDot {
                while end > start {
                    end -= 1
                    if bytes[end] == ASCII.slash { break }
                }
            }
            if isDot || isDoubleDot {
                if isLast {
                    bytes[end] = ASCII.slash
                    end += 1
                }
            } else {
                for place in index..<next {
                    bytes[end] = bytes[place]
                    end += 1
                }
            }
            index = next
        }
        bytes.removeLast(bytes.count - end)
    }

    private func isSegment(_ range: Range<Int>, _ text: StaticString) -> Bool { bytes.span.extracting(range).equals(text) }

    private static let percent = UInt8(ascii: "%")
    private static let backslash = UInt8(ascii: "\\")
    private static let semicolon = UInt8(ascii: ";")
    private static let dot = UInt8(ascii: ".")
}
