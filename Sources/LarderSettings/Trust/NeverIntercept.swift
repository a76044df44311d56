import ProxyPolicy
import ServerTrust

/// Hosts whose programs accept only their vendors' certificates, according to the vendors: interception would break them.
enum NeverIntercept {
    static let usual = [
        // Apple's hosts, as listed in "Use Apple products on enterprise networks".
        "*.apple.com", "*.icloud.com", "*.mzstatic.com", "*.push.apple.com",
        // Windows Update and activation.
        "*.delivery.mp.microsoft.com", "*.update.microsoft.com", "*.windowsupdate.com",
        // Firefox's updates and settings.
        "*.services.mozilla.com", "aus5.mozilla.org",
        // Messengers.
        "*.signal.org", "*.whatsapp.net",
    ]

    static func scope(_ host: String) -> HostScope? { HostScope(host: host, labels: .all) }
}

extension ValueForm where Value == String {
    /// The scope of a host. `*.` before a host means all names below it.
    static let hostPattern = ValueForm.text(
        "a host in ASCII, an address, or `*.` and a host", schema: .object([("type", .string("string"))]),
        parse: { NeverIntercept.scope($0) == nil ? nil : $0 }, show: { .plain($0) })
}
