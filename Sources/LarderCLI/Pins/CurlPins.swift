import ServerTrust

/// curl's `--pinnedpubkey`, a command for each host. curl looks at the server's own key alone: pins of authorities match nothing there.
enum CurlPins {
    static func written(_ hosts: [PinnedHost]) -> String {
        hosts.map { host in
            let name = host.name.contains(":") ? "[\(host.name)]" : host.name
            let pins = host.pins.map { "sha256//\($0.base64)" }.joined(separator: ";")
            return "curl --pinnedpubkey '\(pins)' https://\(name)\(host.port.map { ":\($0)" } ?? "")/\n"
        }.joined()
    }

    /// Every command with a `--pinnedpubkey` of digests and one URL behind it, each on its line.
    static func read(_ text: String) throws(PinFormatFault) -> [PinnedHost] {
        var hosts: [PinnedHost] = []
        for line in text.split(whereSeparator: \.isNewline) where line.contains("--pinnedpubkey") {
            guard let option = line.firstMatch(of: /--pinnedpubkey[ =](?:'([^']*)'|"([^"]*)"|([^ '"]+))/),
                let url = line.firstMatch(
                    of: /https:\/\/(?:\[([0-9A-Fa-f:.]+)\]|([^\/:\s'"@]+))(?::([0-9]{1,5}))?(?:[\/\s'"?]|$)/),
                let name = url.1 ?? url.2
            else { throw PinFormatFault("a command lacks its digests or its https URL") }
            var pins: [SHA256Digest] = []
            for pin in (option.1 ?? option.2 ?? option.3 ?? "").split(separator: ";", omittingEmptySubsequences: false) {
                guard pin.hasPrefix("sha256//") else { throw PinFormatFault("a pin of \(name) does not begin with sha256//") }
                pins.append(try SHA256Digest(pin: pin.dropFirst(8)))
            }
            var port: UInt16?
            if let digits = url.3 {
                guard let number = UInt16(digits), number > 0 else { throw PinFormatFault("\(name) has no such port") }
                port = number
            }
            hosts.append(PinnedHost(name: String(name), port: port, live: pins))
        }
        return hosts
    }
}
