import CommandSupport
import Foundation
import LarderSettings
import ServerTrust

/// TrustKit's configuration, a property list with `TSKPinnedDomains`.
///
/// From the date in `TSKExpirationDate` on, the pins are not enforced. TrustKit requires two pins per domain.
enum TrustKitPins {
    static func written(_ hosts: [PinnedHost], notes: inout [String]) -> String {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
                <key>TSKPinnedDomains</key>
                <dict>

            """
        for host in hosts {
            if host.pins.count < 2 { notes.append("\(host.title) has one pin; TrustKit also requires a backup") }
            text += "        <key>\(host.name)</key>\n        <dict>\n"
            if let expires = host.expires {
                text += "            <key>TSKExpirationDate</key>\n            <string>\(expires.next)</string>\n"
            }
            text += "            <key>TSKEnforcePinning</key>\n            <\(!host.isReportOnly)/>\n"
            text += "            <key>TSKIncludeSubdomains</key>\n            <\(host.breadth != .itself)/>\n"
            text += "            <key>TSKPublicKeyHashes</key>\n            <array>\n"
            for pin in host.pins { text += "                <string>\(pin.base64)</string>\n" }
            text += "            </array>\n        </dict>\n"
        }
        return text + "    </dict>\n</dict>\n</plist>\n"
    }

    /// - Parameter text: the configuration, or an Info.plist that contains it under `TSKConfiguration`.
    static func read(_ text: String, notes: inout [String]) throws(PinFormatError) -> [PinnedHost] {
        let list = try? PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
        guard let root = list as? [String: Any] else {
            throw PinFormatError("this is not a property list with a dictionary at its root")
        }
        let configuration = root["TSKConfiguration"] as? [String: Any] ?? root
        guard let domains = configuration["TSKPinnedDomains"] as? [String: [String: Any]] else {
            throw PinFormatError("`TSKPinnedDomains` is missing")
        }
        let others = configuration.keys.filter { $0.hasPrefix("TSK") && $0 != "TSKPinnedDomains" }.sorted()
        if !others.isEmpty { notes.append("\(others.joined(separator: ", ")) is not imported") }
        var hosts: [PinnedHost] = []
        for (name, domain) in domains.sorted(by: { $0.key < $1.key }) {
            if let host = try pinned(name, domain, notes: &notes) { hosts.append(host) }
        }
        return hosts
    }

    private static let keys: Set<String> = [
        "TSKPublicKeyHashes", "TSKIncludeSubdomains", "TSKEnforcePinning", "TSKExpirationDate",
        "TSKExcludeSubdomainFromParentPolicy",
    ]

    /// - Returns: `nil` if the domain is excluded and has no pins.
    private static func pinned(
        _ name: String, _ domain: [String: Any], notes: inout [String]
    ) throws(PinFormatError) -> PinnedHost? {
        func flag(_ key: String) throws(PinFormatError) -> Bool? {
            guard let value = domain[key] else { return nil }
            guard let flag = value as? Bool else { throw PinFormatError("`\(key)` is neither true nor false for \(name)") }
            return flag
        }
        guard let hashes = domain["TSKPublicKeyHashes"] as? [String] else {
            if try flag("TSKExcludeSubdomainFromParentPolicy") == true {
                notes.append("\(name) has no pins and is left out")
                return nil
            }
            throw PinFormatError("`TSKPublicKeyHashes` is missing for \(name)")
        }
        var pins: [SHA256Digest] = []
        for hash in hashes { pins.append(try SHA256Digest(pin: hash)) }
        var expires: CalendarDay?
        if let day = domain["TSKExpirationDate"] {
            guard let last = (day as? String).flatMap(CalendarDay.init)?.previous else {
                throw PinFormatError("`TSKExpirationDate` is not a date for \(name)")
            }
            expires = last
        }
        let others = domain.keys.filter { !keys.contains($0) }.sorted()
        if !others.isEmpty { notes.append("\(name): \(others.joined(separator: ", ")) is not imported") }
        return PinnedHost(
            name: name, breadth: try flag("TSKIncludeSubdomains") == true ? .itselfAndBelow : .itself, live: pins,
            expires: expires,
            onExpiry: expires == nil ? .fails : .reports,
            // Without `TSKEnforcePinning`, TrustKit enforces the pins.
            isReportOnly: try flag("TSKEnforcePinning") == false)
    }
}
