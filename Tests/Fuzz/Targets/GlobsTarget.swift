import HTTPMessage
import ProxyPolicy

extension FuzzTarget {
    /// A glob matches the same paths as a plain matcher, which keeps the set of all places that it may have reached.
    package static let globs = FuzzTarget("Globs") { octets in
        let parts = octets.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let text = String(validating: parts[0], as: UTF8.self), let pattern = try? PathPattern(text)
        else {
            return nil
        }
        let path = Array(parts[1])
        return pattern.matches(path.span) == PlainGlob(Array(text.utf8)).matches(path) ? nil : "another path matches"
    }
}

/// The glob of `PathPattern`, matched one part after the other.
private struct PlainGlob {
    private enum Part: Equatable {
        case byte(UInt8)
        case segment, across
    }

    private var parts: [Part] = []

    init(_ pattern: [UInt8]) {
        let star = UInt8(ascii: "*")
        for (index, byte) in pattern.enumerated() {
            guard byte == star else {
                parts.append(.byte(byte))
                continue
            }
            if index > 0, pattern[index - 1] == star { parts[parts.count - 1] = .across } else { parts.append(.segment) }
        }
    }

    func matches(_ path: [UInt8]) -> Bool {
        var places = Array(repeating: false, count: path.count + 1)
        places[0] = true
        var index = 0
        while index < parts.count {
            let before = places
            places = after(parts[index], before, path)
            // `/**/` also matches a single slash.
            let slash = Part.byte(ASCII.slash)
            if parts[index] == .across, index > 0, parts[index - 1] == slash, index + 1 < parts.count, parts[index + 1] == slash {
                index += 1
                places = zip(after(slash, places, path), before).map { $0 || $1 }
            }
            index += 1
        }
        return places[path.count]
    }

    private func after(_ part: Part, _ places: [Bool], _ path: [UInt8]) -> [Bool] {
        var reached = Array(repeating: false, count: places.count)
        for place in places.indices {
            switch part {
            case .byte(let byte): reached[place] = place > 0 && places[place - 1] && path[place - 1] == byte
            case .segment: reached[place] = places[place] || place > 0 && reached[place - 1] && path[place - 1] != ASCII.slash
            case .across: reached[place] = places[place] || place > 0 && reached[place - 1]
            }
        }
        return reached
    }
}
