import HTTPMessage

/// A URL pattern: `*` matches any characters, including `/` and `?`; all other characters match themselves.
///
/// Compared with URLs without the scheme's default port. A pattern without `://` matches every scheme.
package struct URLPattern: Equatable, Sendable {
    /// The pattern as given.
    package let text: String
    private let glob: [UInt8]
    /// The part before the first star, with which every matching URL starts.
    private let prefix: [UInt8]

    /// - Returns: `nil` for an empty text, blanks, control characters, or more than 4 KiB.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        self.text = text
        glob = URLPattern.normalized(Array((text.contains("://") ? text : "*://" + text).utf8))
        prefix = Array(glob.prefix { $0 != Glob.star })
    }

    /// Whether the pattern matches a single URL only.
    package var isExact: Bool { prefix.count == glob.count }

    /// The key of the only URL that the pattern matches; `nil` if the pattern can match several.
    package var exactKey: [UInt8]? {
        guard isExact, let scheme = glob.firstIndex(of: ASCII.colon),
            let slash = glob[(scheme + 3)...].firstIndex(of: ASCII.slash)
        else { return nil }
        let authority = glob[(scheme + 3)..<slash]
        // Only a colon after the last bracket belongs to a port; colons before the bracket belong to an address.
        let rest = authority.lastIndex(of: UInt8(ascii: "]")).map { authority[$0...] } ?? authority
        if rest.contains(ASCII.colon) { return glob }
        var key = Array(glob[..<slash])
        key += glob.starts(with: "https:".utf8) ? ":443".utf8 : ":80".utf8
        return key + glob[slash...]
    }

    /// - Parameter url: a URL in the form of `StoredURL`. If a method follows the URL, as in keys that include the content,
    ///   the method is ignored.
    func matches(_ url: borrowing [UInt8]) -> Bool {
        let count = url.firstIndex(of: ASCII.space) ?? url.count
        guard count >= prefix.count else { return false }
        for index in 0..<prefix.count where url[index] != prefix[index] { return false }
        return Glob.matches(glob.span, url.span.extracting(first: count), from: prefix.count)
    }

    /// Scheme and host in lower case, with a path, and without the default port.
    private static func normalized(_ glob: [UInt8]) -> [UInt8] {
        guard let scheme = glob.firstRange(of: Array("://".utf8)) else { return glob }
        let end = glob[scheme.upperBound...].firstIndex { $0 == ASCII.slash || $0 == ASCII.question } ?? glob.count
        var result = glob[..<end].map(ASCII.lowercased)
        for (name, port) in [("http", ":80"), ("https", ":443")]
        where result.starts(with: "\(name)://".utf8) && result.reversed().starts(with: port.utf8.reversed()) {
            result.removeLast(port.utf8.count)
        }
        if end == glob.count, result.last != Glob.star { result.append(ASCII.slash) }
        return result + glob[end...]
    }
}

/// The URL of a stored response, from its key.
package enum StoredURL {
    /// The URL in its usual form, without the scheme's default port.
    package static func text(ofKey key: [UInt8]) -> [UInt8] {
        guard let authority = authority(of: key) else { return key }
        let isDefault = key[authority.port].elementsEqual(key.count > 4 && key[4] == 0x73 ? ":443".utf8 : ":80".utf8)
        guard isDefault else { return key }
        var url: [UInt8] = []
        url.reserveCapacity(key.count)
        url.append(contentsOf: key[..<authority.port.lowerBound])
        url.append(contentsOf: key[authority.port.upperBound...])
        return url
    }

    /// The positions of host and port in a key (`http://host:port/…`), the port with its colon; `nil` for another form.
    static func authority(of key: [UInt8]) -> (host: Range<Int>, port: Range<Int>)? {
        guard let colon = key.firstIndex(of: ASCII.colon), colon + 3 < key.count, key[colon + 1] == ASCII.slash else {
            return nil
        }
        let start = colon + 3
        guard let end = key[start...].firstIndex(of: ASCII.slash), let port = key[start..<end].lastIndex(of: ASCII.colon) else {
            return nil
        }
        return (start..<port, port..<end)
    }
}
