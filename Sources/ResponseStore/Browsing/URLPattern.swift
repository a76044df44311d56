import HTTPMessage

/// A URL, or part of one: `*` stands for any run of characters, `/` and `?` included; everything else for itself.
///
/// Compared with a URL as people write it, without the scheme's own port. Without `://` it holds for every scheme.
package struct URLPattern: Equatable, Sendable {
    /// As it was given.
    package let text: String
    private let glob: [UInt8]
    /// What every URL that matches begins with, where the pattern says that much.
    private let prefix: [UInt8]

    /// - Returns: `nil` for an empty text, blanks, controls, or more than 4 KiB.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        self.text = text
        glob = URLPattern.normalized(Array((text.contains("://") ? text : "*://" + text).utf8))
        prefix = Array(glob.prefix { $0 != Glob.star })
    }

    /// Names one URL and no other.
    package var isExact: Bool { prefix.count == glob.count }

    /// The key of the one URL that it names.
    package var exactKey: [UInt8]? {
        guard isExact, let scheme = glob.firstIndex(of: ASCII.colon),
            let slash = glob[(scheme + 3)...].firstIndex(of: ASCII.slash)
        else { return nil }
        let authority = glob[(scheme + 3)..<slash]
        // A colon behind the last bracket is a port's, those before it an address's.
        let rest = authority.lastIndex(of: UInt8(ascii: "]")).map { authority[$0...] } ?? authority
        if rest.contains(ASCII.colon) { return glob }
        var key = Array(glob[..<slash])
        key += glob.starts(with: "https:".utf8) ? ":443".utf8 : ":80".utf8
        return key + glob[slash...]
    }

    /// - Parameter url: As `StoredURL` shows it. A method behind it, of what is stored by its content, is passed over.
    func matches(_ url: borrowing [UInt8]) -> Bool {
        let count = url.firstIndex(of: ASCII.space) ?? url.count
        guard count >= prefix.count else { return false }
        for index in 0..<prefix.count where url[index] != prefix[index] { return false }
        return Glob.matches(glob.span, url.span.extracting(first: count), from: prefix.count)
    }

    /// Scheme and host in lower case, a path where there would be none, and no port that goes without saying.
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

/// A stored response's URL, read from its key.
package enum StoredURL {
    /// As people write it: without the scheme's own port.
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

    /// Where host and port stand in a key (`http://host:port/…`), the port with its colon; `nil` for what is no such key.
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
