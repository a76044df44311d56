import CommandSupport
import LarderSettings
import ServerTrust
import TextCoding

/// Android's network security configuration: `<domain-config>` with `<domain>` and `<pin-set>`.
///
/// From the date in `expiration` on, the pins are not enforced.
enum AndroidPins {
    static func written(_ hosts: [PinnedHost]) -> String {
        var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<network-security-config>\n"
        for host in hosts {
            let expiration = host.expires.map { " expiration=\"\($0.next)\"" } ?? ""
            text += "    <domain-config>\n"
            text += "        <domain includeSubdomains=\"\(host.breadth != .itself)\">\(host.name)</domain>\n"
            text += "        <pin-set\(expiration)>\n"
            for pin in host.pins { text += "            <pin digest=\"SHA-256\">\(pin.base64)</pin>\n" }
            text += "        </pin-set>\n    </domain-config>\n"
        }
        return text + "</network-security-config>\n"
    }

    /// Reads the domains of every `<domain-config>` that has pins of its own or inherits pins.
    static func read(_ text: String, notes: inout [String]) throws(PinFormatError) -> [PinnedHost] {
        guard let root = MarkupElement(text), root.name == "network-security-config" else {
            throw PinFormatError("this is not a <network-security-config>")
        }
        return try hosts(in: root, pinned: nil, notes: &notes)
    }

    /// Pins, and the end of their enforcement.
    private typealias Pinned = (pins: [SHA256Digest], expires: CalendarDay?)

    private static func hosts(
        in element: MarkupElement, pinned inherited: Pinned?, notes: inout [String]
    ) throws(PinFormatError) -> [PinnedHost] {
        let sets = element.children.filter { $0.name == "pin-set" }
        if sets.count > 1 { throw PinFormatError("a <domain-config> has more than one <pin-set>") }
        var pinned = inherited
        if let set = sets.first { pinned = try read(set) }
        let place = element.children.first { $0.name == "domain" }.map { " of \($0.text)" } ?? ""
        var hosts: [PinnedHost] = []
        for child in element.children {
            switch child.name {
            case "pin-set": break
            case "domain-config": hosts += try self.hosts(in: child, pinned: pinned, notes: &notes)
            case "domain":
                guard let pinned else {
                    notes.append("\(child.text) has no pins and is left out")
                    continue
                }
                hosts.append(
                    PinnedHost(
                        name: child.text, breadth: try includesSubdomains(child) ? .itselfAndBelow : .itself, live: pinned.pins,
                        expires: pinned.expires, onExpiry: pinned.expires == nil ? .fails : .reports))
            default:
                notes.append("<\(child.name)>\(place) is not imported")
            }
        }
        return hosts
    }

    private static func includesSubdomains(_ domain: MarkupElement) throws(PinFormatError) -> Bool {
        switch domain.attributes["includeSubdomains"] {
        case "true": true
        case nil, "false": false
        default: throw PinFormatError("includeSubdomains of \(printable(domain.text)) is neither true nor false")
        }
    }

    private static func read(_ set: MarkupElement) throws(PinFormatError) -> Pinned {
        var pins: [SHA256Digest] = []
        for pin in set.children {
            guard pin.name == "pin" else { throw PinFormatError("a <pin-set> contains <\(pin.name)>") }
            guard pin.attributes["digest"] == "SHA-256" else { throw PinFormatError("a pin's digest is not SHA-256") }
            pins.append(try SHA256Digest(pin: pin.text))
        }
        guard let day = set.attributes["expiration"] else { return (pins, nil) }
        guard let last = CalendarDay(day)?.previous else { throw PinFormatError("an expiration is not a date") }
        return (pins, last)
    }
}
