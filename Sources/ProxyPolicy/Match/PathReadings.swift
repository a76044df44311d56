import HTTPMessage

/// The ways in which an origin server may read a request's path, for rules that deny (T17, T21).
///
/// A server may decode `%61`, may take `%2F` for a slash or for a byte of a segment, may remove dot segments (RFC 3986
/// §5.2.4) before or after decoding, and may take several slashes for one. A rule that denies `/admin/**` denies the
/// request if any of these readings matches. The readings are made once per request and only where a path has `%`, `//` or a segment
/// that begins with a dot; else the path as it came is the only one. They stand in storage that is used again.
package struct PathReadings: Sendable {
    private struct Reading: OptionSet {
        let rawValue: UInt8
        static let decodesSlash = Reading(rawValue: 1)
        static let removesDotSegments = Reading(rawValue: 2)
        static let mergesSlashes = Reading(rawValue: 4)
        static let all = 0..<UInt8(8)
    }

    private var bytes: [UInt8] = []
    private var extents: [Extent] = []
    private var isMade = false

    /// Storage above this is given back after the request that needed it.
    private static let keptCapacity = 4096

    package init() {}

    package mutating func removeAll() {
        guard isMade else { return }
        isMade = false
        extents.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
    }

    /// Whether any reading of `path` other than the path itself matches.
    mutating func containsMatch(of pattern: PathPattern, for path: Span<UInt8>) -> Bool {
        if !isMade { make(from: path) }
        for extent in extents where pattern.matches(bytes.span.extracting(extent.range)) { return true }
        return false
    }

    private mutating func make(from path: Span<UInt8>) {
        isMade = true
        guard Self.hasOtherReadings(path) else { return }
        for reading in Reading.all.map(Reading.init(rawValue:)) {
            let start = bytes.count
            appendDecoded(path, decodesSlash: reading.contains(.decodesSlash))
            if reading.contains(.mergesSlashes) { mergeSlashes(from: start) }
            if reading.contains(.removesDotSegments) { removeDotSegments(from: start) }
            keepIfNew(from: start, path: path)
        }
    }

    private static func hasOtherReadings(_ path: Span<UInt8>) -> Bool {
        for index in 0..<path.count {
            if path[index] == percent { return true }
            guard path[index] == ASCII.slash, index + 1 < path.count else { continue }
            if path[index + 1] == ASCII.slash || path[index + 1] == dot { return true }
        }
        return false
    }

    private mutating func keepIfNew(from start: Int, path: Span<UInt8>) {
        let made = Extent(start..<bytes.count)
        let isNew =
            !bytes.span.extracting(made.range).equals(path)
            && !extents.contains { bytes.span.extracting($0.range).equals(bytes.span.extracting(made.range)) }
        if isNew { extents.append(made) } else { bytes.removeLast(Int(made.count)) }
    }

    /// One round of decoding: a server that decodes twice is not guarded against.
    private mutating func appendDecoded(_ path: Span<UInt8>, decodesSlash: Bool) {
        var index = 0
        while index < path.count {
            if let decoded = PercentEncoding.byte(in: path, at: index), decoded != ASCII.slash || decodesSlash {
                bytes.append(decoded)
                index += 3
            } else {
                bytes.append(path[index])
                index += 1
            }
        }
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

    /// RFC 3986 §5.2.4 in place, for a path that begins with a slash.
    private mutating func removeDotSegments(from start: Int) {
        var end = start
        var index = start
        while index < bytes.count {
            // Here `index` stands at the slash before a segment.
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
    private static let dot = UInt8(ascii: ".")
}
