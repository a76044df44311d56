import LarderSettings
import ServerTrust
import TextCoding

/// The fields `Public-Key-Pins` and `Public-Key-Pins-Report-Only` (RFC 7469 §2.1), each after a line `# host`.
enum HPKPPins {
    /// The lifetime in seconds that RFC 7469 §4.1 suggests, used for pins without an end.
    static let usualLifetime: Int64 = 60 * 86_400

    static func written(_ hosts: [PinnedHost], at now: POSIXTime) -> String {
        hosts.map { host in
            let lifetime = host.expires.map { max(1, $0.lastSecond.seconds - now.seconds) } ?? usualLifetime
            var directives = host.pins.map { "pin-sha256=\"\($0.base64)\"" } + ["max-age=\(lifetime)"]
            if host.breadth != .itself { directives.append("includeSubDomains") }
            let name = host.isReportOnly ? "Public-Key-Pins-Report-Only" : "Public-Key-Pins"
            return "# \(host.name)\n\(name): \(directives.joined(separator: "; "))\n"
        }.joined()
    }

    /// - Parameter host: the host of the file's only field; all `#` lines are then comments. If `nil`, the `#` line before a field names
    ///   the field's host.
    static func read(_ text: String, host: String?, notes: inout [String]) throws(PinFormatError) -> [PinnedHost] {
        var hosts: [PinnedHost] = []
        var names = [host].compactMap { $0 }
        var isNamed = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.allSatisfy(\.isWhitespace) { continue }
            if line.hasPrefix("#") {
                let words = line.dropFirst().split(whereSeparator: \.isWhitespace)
                guard host == nil, words.count == 1, HostScope(host: String(words[0])) != nil else { continue }
                names = (isNamed ? names : []) + [String(words[0])]
                isNamed = true
                continue
            }
            guard let field = line.wholeMatch(of: /(?i:public-key-pins(-report-only)?):\s*(.*)/) else {
                throw PinFormatError("a line is not a Public-Key-Pins field")
            }
            guard let name = names.first else { throw PinFormatError("the file does not name its host: use --host") }
            if names.count > 1 { throw PinFormatError("a field follows two host names, \(names[0]) and \(names[1]): use --host") }
            if host != nil, !hosts.isEmpty {
                throw PinFormatError("the file has several Public-Key-Pins fields; --host works only with one")
            }
            hosts.append(try pinned(name, directives: field.2, isReportOnly: field.1 != nil, notes: &notes))
            isNamed = false
        }
        return hosts
    }

    private static func pinned(
        _ name: String, directives: Substring, isReportOnly: Bool, notes: inout [String]
    ) throws(PinFormatError) -> PinnedHost {
        var pinned = PinnedHost(pattern: name, live: [])
        pinned.isReportOnly = isReportOnly
        var lost: [String] = []
        for directive in directives.split(separator: ";") {
            let parts = directive.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
            guard let directive = parts.first, !directive.isEmpty else { continue }
            switch directive.lowercased() {
            case "pin-sha256": pinned.live.append(try SHA256Digest(pin: try unquoted(parts)))
            case "includesubdomains":
                guard pinned.breadth != .below else { throw PinFormatError("`\(printable(name))` is not a host") }
                pinned.breadth = .itselfAndBelow
            case "max-age":
                // A lifetime of zero removes the pins (RFC 7469 §2.1.2). Any other lifetime begins again with each response.
                let digits = parts.last?.filter { $0 != "\"" } ?? ""
                guard let lifetime = UInt64(digits) else { throw PinFormatError("the max-age of \(name) is not a number") }
                if lifetime == 0 { throw PinFormatError("the pins of \(name) are removed (max-age=0)") }
                lost.append("max-age")
            default: lost.append(directive)
            }
        }
        if !isReportOnly, !lost.contains("max-age") {
            throw PinFormatError("\(name) has no max-age, so its pins have no effect")
        }
        if !lost.isEmpty { notes.append("\(name): \(lost.joined(separator: ", ")) is not imported") }
        return pinned
    }

    private static func unquoted(_ parts: [String]) throws(PinFormatError) -> Substring {
        guard parts.count == 2, parts[1].count > 2, parts[1].hasPrefix("\""), parts[1].hasSuffix("\"") else {
            throw PinFormatError("a pin-sha256 is not a quoted string")
        }
        return parts[1].dropFirst().dropLast()
    }
}
