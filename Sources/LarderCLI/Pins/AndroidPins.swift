import ServerTrust

/// Android's network security configuration: `<domain-config>` with `<domain>` and `<pin-set>`.
///
/// From its `expiration` on nothing is pinned: pins that fail then are written without it.
enum AndroidPins {
    static func written(_ hosts: [PinnedHost], notes: inout [String]) -> String {
        var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<network-security-config>\n"
        for host in hosts {
            var expiration = ""
            if let expires = host.expires {
                if host.onExpiry == .reports {
                    expiration = " expiration=\"\(expires.next)\""
                } else {
                    notes.append("\(host.title) is written without its end, at which Android would let everybody through")
                }
            }
            text += "    <domain-config>\n"
            text += "        <domain includeSubdomains=\"\(host.breadth != .itself)\">\(host.name)</domain>\n"
            text += "        <pin-set\(expiration)>\n"
            for pin in host.pins { text += "            <pin digest=\"SHA-256\">\(pin.base64)</pin>\n" }
            text += "        </pin-set>\n    </domain-config>\n"
        }
        return text + "</network-security-config>\n"
    }

    /// The domains of every `<domain-config>` that has pins of its own.
    static func read(_ text: String) throws(PinFormatFault) -> [PinnedHost] {
        guard let root = MarkupElement(text), root.name == "network-security-config" else {
            throw PinFormatFault("this is no <network-security-config>")
        }
        var hosts: [PinnedHost] = []
        for configuration in root.descendants("domain-config") {
            guard let set = configuration.children.first(where: { $0.name == "pin-set" }) else { continue }
            var pins: [SHA256Digest] = []
            for pin in set.children where pin.name == "pin" {
                guard pin.attributes["digest"] == "SHA-256" else { throw PinFormatFault("a pin's digest is not SHA-256") }
                pins.append(try SHA256Digest(pin: pin.text))
            }
            var expires: CalendarDay?
            if let day = set.attributes["expiration"] {
                guard let last = CalendarDay(day)?.previous else { throw PinFormatFault("an expiration is no day") }
                expires = last
            }
            for domain in configuration.children where domain.name == "domain" {
                hosts.append(
                    PinnedHost(
                        name: domain.text, breadth: domain.attributes["includeSubdomains"] == "true" ? .itselfAndBelow : .itself,
                        live: pins, expires: expires, onExpiry: expires == nil ? .fails : .reports))
            }
        }
        return hosts
    }
}
