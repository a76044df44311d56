import ServerTrust

/// OkHttp's `CertificatePinner`, as its builder is written in Kotlin. A pin has no end there.
enum OkHTTPPins {
    static func written(_ hosts: [PinnedHost]) -> String {
        var text = "val certificatePinner = CertificatePinner.Builder()\n"
        for host in hosts {
            // One star is one label, two are any number of them, and none.
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

    /// Every `.add("host", "sha256/…", …)`, in Kotlin or Java; what stands for a text by its name is not read.
    static func read(_ text: String) throws(PinFormatFault) -> [PinnedHost] {
        var hosts: [PinnedHost] = []
        for call in text.matches(of: /\.add\(\s*([^()]*)\)/) {
            let arguments = call.1.matches(of: /"([^"\\]*)"/).map { $0.1 }
            let others = call.1.replacing(/"([^"\\]*)"/, with: "").filter { !$0.isWhitespace && $0 != "," }
            guard others.isEmpty, let pattern = arguments.first else {
                throw PinFormatFault("an `add` has something besides texts")
            }
            var pins: [SHA256Digest] = []
            for pin in arguments.dropFirst() {
                guard pin.hasPrefix("sha256/") else { throw PinFormatFault("a pin of \(pattern) does not begin with sha256/") }
                pins.append(try SHA256Digest(pin: pin.dropFirst(7)))
            }
            let isWide = pattern.hasPrefix("**.")
            let isPattern = pattern.hasPrefix("*.")
            hosts.append(
                PinnedHost(
                    name: String(pattern.dropFirst(isWide ? 3 : isPattern ? 2 : 0)),
                    breadth: isWide ? .itselfAndBelow : isPattern ? .oneLabelBelow : .itself, live: pins))
        }
        return PinnedHost.gathered(hosts)
    }
}
