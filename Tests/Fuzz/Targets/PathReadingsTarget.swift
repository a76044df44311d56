import HTTPMessage
import HTTPWire
import ProxyPolicy

extension FuzzTarget {
    /// A rule denies a path if it names one of its readings. Rules allow it only if they name all of them.
    package static let pathReadings = FuzzTarget("PathReadings") { octets in
        let path =
            [ASCII.slash]
            + octets.prefix(100).filter { $0 > ASCII.space && $0 < 0x7F && $0 != ASCII.question && $0 != UInt8(ascii: "#") }
        guard let request = request(for: path) else { return nil }
        guard let texts = PathReadings.texts(of: path) else {
            return isAllowed(request, allowing: ["/x"]) ? "a path with too many readings is allowed" : nil
        }
        if texts.isEmpty || Set(texts).count != texts.count { return "no reading, or one twice" }
        if texts.contains(where: { $0.first != ASCII.slash }) { return "a reading does not begin with a slash" }
        if !texts.contains(PlainReading.decoded(path)) || !texts.contains(PlainReading.withoutDots(PlainReading.decoded(path))) {
            return "a reading is missing"
        }
        let patterns = texts.map(literal)
        if !isAllowed(request, allowing: patterns) { return "not allowed by all of its readings" }
        for (index, pattern) in patterns.enumerated() {
            if isAllowed(request, denying: pattern) { return "a reading is not denied" }
            var others = patterns
            others.remove(at: index)
            if isAllowed(request, allowing: others) { return "allowed without one of its readings" }
        }
        return nil
    }

    private static func request(for path: [UInt8]) -> RequestHead? {
        let bytes = Array("GET http://h.example".utf8) + path + Array(" HTTP/1.1\r\nHost: h.example\r\n\r\n".utf8)
        var head = RequestHead()
        var parser = RequestParser()
        return (try? parser.parse(bytes.span.bytes, into: &head)) == bytes.count ? head : nil
    }

    /// A pattern that matches the text alone.
    private static func literal(_ text: [UInt8]) -> String {
        var pattern: [UInt8] = []
        for byte in text {
            if byte == ASCII.slash || ASCII.isAlpha(byte) {
                pattern.append(byte)
            } else {
                PercentEncoding.append(encoded: byte, into: &pattern)
            }
        }
        return String(decoding: pattern, as: UTF8.self)
    }

    private static func isAllowed(_ request: RequestHead, allowing patterns: [String]) -> Bool {
        let paths = patterns.compactMap { try? PathPattern($0) }
        guard paths.count == patterns.count, !paths.isEmpty else { return false }
        return isAllowed(request, by: paths, denies: false)
    }

    private static func isAllowed(_ request: RequestHead, denying pattern: String) -> Bool {
        guard let path = try? PathPattern(pattern) else { return false }
        return isAllowed(request, by: [path], denies: true)
    }

    private static func isAllowed(_ request: RequestHead, by paths: [PathPattern], denies: Bool) -> Bool {
        var condition = RuleCondition()
        condition.paths = paths
        let rule = PolicyRule(name: "r", condition: condition, reason: denies ? "no" : nil, allows: !denies)
        var matched = MatchedRules()
        return PolicyRuleSet(rules: [rule]).under(EgressTerms(denies ? .allow : .deny)).match(request, into: &matched).isAllowed
    }
}

/// Two readings, made in the plainest way.
private enum PlainReading {
    static func decoded(_ path: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        var index = 0
        while index < path.count {
            let byte = PercentEncoding.byte(in: path.span, at: index)
            decoded.append(byte ?? path[index])
            index += byte == nil ? 1 : 3
        }
        return decoded
    }

    /// RFC 3986 §5.2.4.
    static func withoutDots(_ path: [UInt8]) -> [UInt8] {
        let segments = path.split(separator: ASCII.slash, omittingEmptySubsequences: false).dropFirst().map {
            String(decoding: $0, as: UTF8.self)
        }
        guard segments.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) else { return decoded(path) }
        var kept: [String] = []
        for (index, segment) in segments.enumerated() {
            if segment == ".." { _ = kept.popLast() } else if segment != "." { kept.append(segment) }
            if index == segments.count - 1, segment == "." || segment == ".." { kept.append("") }
        }
        return Array(("/" + kept.joined(separator: "/")).utf8)
    }
}
