import HTTPMessage

/// The form of one segment of a path, and the pattern that replaces it.
struct SegmentForm: Equatable {
    enum Kind {
        /// A word that many projects have in their URLs, such as `packages`.
        case word
        /// A text that may be the name of a project.
        case name
        /// A project's name with a version: `six-1.16.0.tar.gz`.
        case namedVersion
        case version
        case digest
        /// Two hexadecimal digits, which may be the beginning of a digest.
        case pair
        /// An id: a number or a UUID.
        case id
        case secret
    }

    let text: String
    /// The pattern that matches the segment, and other segments of the same kind.
    let pattern: String
    let kind: Kind

    /// - Parameter text: the segment, in visible ASCII.
    init(_ text: String) {
        self.text = Self.withoutRepeatedStars(Array(text.utf8))
        let bytes = Array(self.text.utf8)
        let found = Self.secret(text) ?? Self.id(bytes) ?? Self.version(bytes) ?? Self.namedVersion(bytes) ?? Self.digest(bytes)
        if let found {
            (kind, pattern) = found
        } else {
            kind = Self.isPair(bytes) ? .pair : ProjectNames.isName(bytes) ? .name : .word
            pattern = self.text
        }
    }

    /// Whether the segment may be the beginning of a digest that continues in the next segment. Two decimal digits may be such a
    /// beginning too.
    var mayBeginDigest: Bool { kind == .pair || kind == .id && text.utf8.count == 2 }

    /// Adjacent stars are joined, because two stars would match more than one segment.
    private static func withoutRepeatedStars(_ bytes: [UInt8]) -> String {
        var kept: [UInt8] = []
        for byte in bytes where byte != star || kept.last != star { kept.append(byte) }
        return String(decoding: kept, as: UTF8.self)
    }

    private typealias Found = (kind: Kind, pattern: String)

    private static func secret(_ text: String) -> Found? {
        var rest = text
        var pattern = ""
        while let mark = rest.firstRange(ofText: ObservedRequest.secretMark) {
            pattern += rest[..<mark.lowerBound] + "*"
            rest = String(rest[mark.upperBound...])
        }
        return pattern.isEmpty ? nil : (.secret, withoutRepeatedStars(Array((pattern + rest).utf8)))
    }

    private static func id(_ bytes: [UInt8]) -> Found? {
        let isNumber = !bytes.isEmpty && bytes.allSatisfy(ASCII.isDigit)
        let parts = bytes.split(separator: dash, omittingEmptySubsequences: false)
        let isUUID = parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy { ASCII.hexValue($0) != nil }
        return isNumber && bytes.count < digestLength || isUUID ? (.id, "*") : nil
    }

    /// Parses a version such as `1.16.0`, `v1.5.2` or `v0.0.0-20170915032832-14c0d48ead0c.mod`.
    private static func version(_ bytes: [UInt8]) -> Found? {
        let start = bytes.first == letterV ? 1 : 0
        guard let major = majorVersion(in: bytes, at: start), bytes[major] == dot else { return nil }
        return (.version, String(decoding: bytes[..<start], as: UTF8.self) + "*" + suffix(of: bytes, from: major))
    }

    /// The pattern of a name with a version: `six-1.16.0-py2.py3-none-any.whl` becomes `six-1.*.whl`. The first number of the version
    /// stays in the pattern, so that the pattern matches no other name.
    private static func namedVersion(_ bytes: [UInt8]) -> Found? {
        for place in bytes.indices.dropFirst() where separators.contains(bytes[place]) {
            let start = place + 1 < bytes.count && bytes[place + 1] == letterV ? place + 2 : place + 1
            guard let end = majorVersion(in: bytes, at: start) else { continue }
            guard bytes[..<place].count(where: ASCII.isAlpha) >= ProjectNames.lettersOfName else { return nil }
            return (.namedVersion, String(decoding: bytes[...end], as: UTF8.self) + "*" + suffix(of: bytes, from: end))
        }
        return nil
    }

    /// - Returns: the index after a number. After the number there must be a dot or the colon of an epoch, and then a digit; otherwise
    ///   `nil`.
    private static func majorVersion(in bytes: [UInt8], at start: Int) -> Int? {
        let end = bytes[min(start, bytes.count)...].firstIndex { !ASCII.isDigit($0) } ?? bytes.count
        guard end > start, end + 1 < bytes.count, ASCII.isDigit(bytes[end + 1]) else { return nil }
        return bytes[end] == dot || bytes[end] == ASCII.colon ? end : nil
    }

    /// The extensions at the end of a file name, such as `.whl.metadata`.
    private static func suffix(of bytes: [UInt8], from start: Int) -> String {
        var suffix: [UInt8] = []
        for part in bytes[(start + 1)...].split(separator: dot, omittingEmptySubsequences: false).dropFirst().reversed() {
            guard (2...10).contains(part.count), ASCII.isAlpha(part[part.startIndex]), part.allSatisfy(isAlphanumeric) else {
                break
            }
            suffix = [dot] + part + suffix
        }
        return String(decoding: suffix, as: UTF8.self)
    }

    /// Replaces each digest in the segment: `sha256:9f86…` becomes `sha256:*`.
    private static func digest(_ bytes: [UInt8]) -> Found? {
        var pattern: [UInt8] = []
        var hasDigest = false
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex { !isAlphanumeric($0) } ?? bytes.count
            let run = bytes[start..<end]
            if isDigest(run) {
                hasDigest = true
                pattern.append(star)
            } else {
                pattern += run
            }
            if end < bytes.count { pattern.append(bytes[end]) }
            start = end + 1
        }
        if hasDigest { return (.digest, withoutRepeatedStars(pattern)) }
        // Whether the text may be a digest in base64url.
        let isOpaque =
            bytes.count >= opaqueLength
            && bytes.allSatisfy { isAlphanumeric($0) || $0 == dash || $0 == underscore || $0 == equals }
            && bytes.contains(where: ASCII.isDigit) && bytes.contains(where: isCapital)
            && bytes.count { isCapital($0) || ASCII.isDigit($0) } * 4 >= bytes.count
        return isOpaque ? (.digest, "*") : nil
    }

    private static func isDigest(_ run: ArraySlice<UInt8>) -> Bool {
        guard run.count >= digestLength, run.allSatisfy({ ASCII.hexValue($0) != nil }) else { return false }
        return run.count >= 2 * digestLength || run.contains(where: ASCII.isDigit) && run.contains(where: ASCII.isAlpha)
    }

    private static func isPair(_ bytes: [UInt8]) -> Bool { bytes.count == 2 && bytes.allSatisfy { ASCII.hexValue($0) != nil } }
    private static func isAlphanumeric(_ byte: UInt8) -> Bool { ASCII.isAlpha(byte) || ASCII.isDigit(byte) }
    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    /// The minimum number of hexadecimal digits in a digest.
    private static let digestLength = 16
    /// The lengths of digests in base64url: a SHA-256 has 43 characters, an MD5 has 22.
    private static let opaqueLength = 22
    private static let separators = Array("-_@".utf8)
    private static let star = UInt8(ascii: "*")
    private static let dot = UInt8(ascii: ".")
    private static let dash = UInt8(ascii: "-")
    private static let underscore = UInt8(ascii: "_")
    private static let equals = UInt8(ascii: "=")
    private static let letterV = UInt8(ascii: "v")
}
