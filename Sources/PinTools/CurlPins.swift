import LarderSettings
import ServerTrust
import TextCoding

/// curl's `--pinnedpubkey`, one command per host. curl checks only the server's own key: pins of CA keys match nothing.
enum CurlPins {
    static func written(_ hosts: [PinnedHost]) -> String {
        hosts.map { host in
            let name = host.name.contains(":") ? "[\(host.name)]" : host.name
            let pins = host.pins.map { "sha256//\($0.base64)" }.joined(separator: ";")
            return "curl --pinnedpubkey '\(pins)' https://\(name)\(host.port.map { ":\($0)" } ?? "")/\n"
        }.joined()
    }

    /// Reads the hosts of every command that has `--pinnedpubkey` with digests.
    static func read(_ text: String) throws(PinFormatError) -> [PinnedHost] {
        var hosts: [PinnedHost] = []
        for command in try ShellCommand.commands(of: text) where command.words.contains(where: { $0.contains("pinnedpubkey") }) {
            guard let program = command.words.firstIndex(where: { $0 == "curl" || $0.hasSuffix("/curl") }) else {
                throw PinFormatError("pinnedpubkey appears outside a curl command")
            }
            // Options do not carry over past --next.
            for transfer in command.words[(program + 1)...].split(whereSeparator: { $0 == "--next" || $0 == "-:" }) {
                hosts += try read(transfer)
            }
        }
        return hosts
    }

    private static func read(_ words: ArraySlice<String>) throws(PinFormatError) -> [PinnedHost] {
        var (pins, urls): ([String], [String]) = ([], [])
        var words = words
        while let word = words.popFirst() {
            if word == "--pinnedpubkey" {
                pins.append(words.popFirst() ?? "")
            } else if word.hasPrefix("--pinnedpubkey=") {
                pins.append(String(word.dropFirst("--pinnedpubkey=".count)))
            } else if word == "--url" {
                urls.append(words.popFirst() ?? "")
            } else if word.contains("pinnedp") {
                throw PinFormatError("`\(printable(word))` is not imported: Larder imports only --pinnedpubkey")
            } else if word.hasPrefix("-"), word.count > 1 {
                // An unknown option may be followed by a value that looks like a URL.
                guard let takesValue = takesValue(word) ?? words.first.flatMap({ $0.hasPrefix("-") ? false : nil }) else {
                    throw PinFormatError(
                        "`\(printable(word))` is an unknown option, so Larder cannot tell whether a value or a URL follows it")
                }
                if takesValue { words = words.dropFirst() }
            } else {
                urls.append(word)
            }
        }
        // Transfers without pins are ignored.
        if pins.isEmpty { return [] }
        if pins.count > 1 { throw PinFormatError("a command has several --pinnedpubkey options, and curl uses only the last") }
        if urls.isEmpty { throw PinFormatError("a command has no https URL") }
        var hosts: [PinnedHost] = []
        for url in urls { hosts.append(try pinned(url, by: pins[0])) }
        return hosts
    }

    private static func pinned(_ url: String, by pins: String) throws(PinFormatError) -> PinnedHost {
        let form = /(?i:https):\/\/(?:\[([0-9A-Fa-f:.]+)\]|([^\/:?#@\[\]]+))(?::([0-9]+))?(?:[\/?#].*)?/
        guard let url = url.wholeMatch(of: form), let name = url.1 ?? url.2 else {
            throw PinFormatError("`\(printable(url))` is not an https URL with a host")
        }
        var host = PinnedHost(name: String(name), live: [])
        if let digits = url.3 {
            host.port = UInt16(digits)
            if host.port ?? 0 == 0 { throw PinFormatError("\(name) has an invalid port") }
        }
        for pin in pins.split(separator: ";", omittingEmptySubsequences: false) {
            host.live.append(try SHA256Digest(pin: String(pin), behind: "sha256//", of: String(name)))
        }
        return host
    }

    // MARK: Other options of curl

    /// Whether the option takes a value; `nil` if the option is unknown.
    private static func takesValue(_ option: String) -> Bool? {
        if option.hasPrefix("--") {
            let name = String(option.dropFirst(2))
            return flags.contains(name) || name.hasPrefix("no-") ? false : options.contains(name) ? true : nil
        }
        // Short options may be combined; a value is the rest of the word, or else the next word.
        var letters = option.dropFirst()
        while let letter = letters.popFirst() {
            if optionLetters.contains(letter) { return letters.isEmpty }
            if !flagLetters.contains(letter) { return nil }
        }
        return false
    }

    private static let flagLetters = Set("012346aBfgGiIjJklLMnNOpqRsSvVZ#")
    private static let optionLetters = Set("AbcCdDeEFHmoPQrtTuUwxXyYz")
    private static let flags: Set<String> = [
        "compressed", "fail", "fail-with-body", "get", "globoff", "head", "http1.1", "http2", "include", "insecure", "ipv4",
        "ipv6",
        "location", "progress-bar", "remote-name", "show-error", "silent", "tlsv1.2", "tlsv1.3", "verbose",
    ]
    private static let options: Set<String> = [
        "cacert", "capath", "cert", "connect-timeout", "connect-to", "cookie", "cookie-jar", "data", "data-binary", "data-raw",
        "dump-header", "form", "header", "json", "key", "max-time", "output", "preproxy", "proxy", "proxy-user", "range",
        "referer",
        "request", "resolve", "retry", "tls-max", "upload-file", "user", "user-agent", "write-out",
    ]
}
