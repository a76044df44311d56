/// The parts of a URI reference (RFC 3986 §4.1) as written. Every text can be split into these parts, even if it is not a valid
/// reference (appendix B).
package struct URIReference {
    package private(set) var scheme: ArraySlice<UInt8>?
    package private(set) var authority: ArraySlice<UInt8>?
    package let path: ArraySlice<UInt8>
    package private(set) var query: ArraySlice<UInt8>?
    package private(set) var fragment: ArraySlice<UInt8>?

    package init(_ text: some Sequence<UInt8>) {
        var rest = Array(text)[...]
        if let mark = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: ASCII.question) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        if let colon = Self.endOfScheme(rest) {
            scheme = rest[..<colon]
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: [ASCII.slash, ASCII.slash]) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: ASCII.slash) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    private static func endOfScheme(_ octets: ArraySlice<UInt8>) -> Int? {
        guard let first = octets.first, ASCII.isAlpha(first) else { return nil }
        for index in octets.indices {
            let octet = octets[index]
            if octet == ASCII.colon { return index }
            let belongs = ASCII.isAlpha(octet) || ASCII.isDigit(octet) || octet == 0x2B || octet == 0x2D || octet == 0x2E
            if !belongs { return nil }
        }
        return nil
    }

    /// Merges a path that has no leading slash with the part of the base path up to its last slash (RFC 3986 §5.2.3). The base URI must
    /// have an authority.
    package static func merged(_ base: some BidirectionalCollection<UInt8>, _ path: ArraySlice<UInt8>) -> [UInt8] {
        guard let slash = base.lastIndex(of: ASCII.slash) else { return [ASCII.slash] + path }
        return Array(base[...slash]) + path
    }

    /// Removes the segments `.` and `..` (RFC 3986 §5.2.4). The path starts with a slash or is empty; the result starts with a slash.
    package static func withoutDots(_ path: some Collection<UInt8>) -> [UInt8] {
        guard path.contains(UInt8(ascii: ".")) else { return path.isEmpty ? [ASCII.slash] : Array(path) }
        var kept: [ArraySlice<UInt8>] = []
        let segments = Array(path).split(separator: ASCII.slash, omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in zip(segments.indices, segments) {
            let isLast = index == segments.endIndex - 1
            switch segment {
            case [0x2E]: if isLast { kept.append([]) }
            case [0x2E, 0x2E]:
                _ = kept.popLast()
                if isLast { kept.append([]) }
            default: kept.append(segment)
            }
        }
        if kept.isEmpty { kept.append([]) }
        return kept.flatMap { [ASCII.slash] + $0 }
    }
}
