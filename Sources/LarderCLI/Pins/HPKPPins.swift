import ServerTrust

/// The fields `Public-Key-Pins` and `Public-Key-Pins-Report-Only` (RFC 7469 §2.1), each behind a line `# host`.
enum HPKPPins {
    /// As long as RFC 7469 §4.1 thinks right, for pins without an end.
    static let usualLifetime: Int64 = 60 * 86_400

    static func written(_ hosts: [PinnedHost], at now: POSIXTime) -> String {
        hosts.map { host in
            let lifetime = host.expires.map { max(0, $0.lastSecond.seconds - now.seconds) } ?? usualLifetime
            var directives = host.pins.map { "pin-sha256=\"\($0.base64)\"" } + ["max-age=\(lifetime)"]
            if host.breadth != .itself { directives.append("includeSubDomains") }
            let name = host.isReportOnly ? "Public-Key-Pins-Report-Only" : "Public-Key-Pins"
            return "# \(host.name)\n\(name): \(directives.joined(separator: "; "))\n"
        }.joined()
    }

    /// - Parameter host: for a field without a line that says it. A lifetime is not taken over: it counts from each answer.
    static func read(_ text: String, host: String?) throws(PinFormatFault) -> [PinnedHost] {
        var hosts: [PinnedHost] = []
        var name = host
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("#") {
                name = String(line.dropFirst().filter { !$0.isWhitespace })
                continue
            }
            guard let field = line.wholeMatch(of: /(?i:public-key-pins(-report-only)?):\s*(.*)/) else {
                if line.allSatisfy(\.isWhitespace) { continue }
                throw PinFormatFault("a line is no Public-Key-Pins")
            }
            guard let name else { throw PinFormatFault("nothing says for which host it is: use --host") }
            var pinned = PinnedHost(name: name, live: [], isReportOnly: field.1 != nil)
            for directive in field.2.split(separator: ";") {
                let parts = directive.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
                switch parts.first?.lowercased() {
                case "pin-sha256": pinned.live.append(try SHA256Digest(pin: try unquoted(parts)))
                case "includesubdomains": pinned.breadth = .itselfAndBelow
                default: break  // RFC 7469 §2.1: what is not known is passed over
                }
            }
            hosts.append(pinned)
        }
        return hosts
    }

    private static func unquoted(_ parts: [String]) throws(PinFormatFault) -> Substring {
        guard parts.count == 2, parts[1].count > 2, parts[1].hasPrefix("\""), parts[1].hasSuffix("\"") else {
            throw PinFormatFault("a pin-sha256 is no text in quotes")
        }
        return parts[1].dropFirst().dropLast()
    }
}
