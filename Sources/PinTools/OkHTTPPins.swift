import LarderSettings
import ServerTrust
import TextCoding

/// OkHttp's `CertificatePinner`, as Kotlin code for its builder. Its pins do not expire.
enum OkHTTPPins {
    static func written(_ hosts: [PinnedHost]) -> String {
        var text = "val certificatePinner = CertificatePinner.Builder()\n"
        for host in hosts {
            // In OkHttp, `*.` matches one label, and `**.` any number of labels, including none.
            let pattern =
                switch host.breadth {
                case .itself: host.name
                case .oneLabelBelow: "*.\(host.name)"
                case .below, .itselfAndBelow: "**.\(host.name)"
                }
            text += "    .add(\"\(pattern)\", \(host.pins.map { "\"\($0)\"" }.joined(separator: ", ")))\n"
        }
        return text + "    .build()\n"
    }

    /// Reads every `add("host", "sha256/…", …)` in Kotlin or Java; names of constants are not resolved.
    static func read(_ text: String) throws(PinFormatError) -> [PinnedHost] {
        var tokens = try SourceToken.tokens(of: text)[...]
        var hosts: [PinnedHost] = []
        while let token = tokens.popFirst() {
            if case .text(let text) = token, text.hasPrefix("sha256/") || text.hasPrefix("sha1/") {
                throw PinFormatError("`\(printable(text))` is not an argument of `add`, so its host is unknown")
            }
            guard token == .name("add"), tokens.first == .symbol("(") else { continue }
            tokens.removeFirst()
            hosts.append(try pinned(arguments(&tokens)))
        }
        return hosts
    }

    /// The string arguments up to the closing parenthesis.
    private static func arguments(_ tokens: inout ArraySlice<SourceToken>) throws(PinFormatError) -> [String] {
        var arguments: [String] = []
        while let token = tokens.popFirst() {
            switch token {
            case .text(let text): arguments.append(text)
            case .symbol(","): break
            case .symbol(")"): return arguments
            default: throw PinFormatError("an argument of `add` is not a string")
            }
        }
        throw PinFormatError("an `add` is not closed")
    }

    private static func pinned(_ arguments: [String]) throws(PinFormatError) -> PinnedHost {
        guard let pattern = arguments.first else { throw PinFormatError("an `add` has no host") }
        var pins: [SHA256Digest] = []
        for pin in arguments.dropFirst() {
            pins.append(try SHA256Digest(pin: pin, behind: "sha256/", of: pattern))
        }
        let isWide = pattern.hasPrefix("**.")
        let isPattern = pattern.hasPrefix("*.")
        return PinnedHost(
            name: String(pattern.dropFirst(isWide ? 3 : isPattern ? 2 : 0)),
            breadth: isWide ? .itselfAndBelow : isPattern ? .oneLabelBelow : .itself, live: pins)
    }
}
