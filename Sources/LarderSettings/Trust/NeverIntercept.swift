import ProxyPolicy
import ServerTrust

/// Hosts that Larder does not intercept by default. According to the vendors, the programs that use these hosts accept only the
/// vendors' certificates, so interception would break them.
enum NeverIntercept {
    static let usual = [
        // Apple's hosts, as listed in "Use Apple products on enterprise networks".
        "*.apple.com", "*.icloud.com", "*.mzstatic.com", "*.push.apple.com",
        // Hosts for Windows Update and activation.
        "*.delivery.mp.microsoft.com", "*.update.microsoft.com", "*.windowsupdate.com",
        // Hosts for Firefox's updates and settings.
        "*.services.mozilla.com", "aus5.mozilla.org",
        // Hosts of messengers.
        "*.signal.org", "*.whatsapp.net",
    ]

    static func scope(_ host: String) -> HostScope? { HostScope(host: host, labels: .all) }
}

extension ValueForm where Value == String {
    /// The scope that a host in the list names. `*.` before a host means all names below it.
    static let hostPattern = ValueForm.text(
        "a host in ASCII, an address, or `*.` and a host", schema: .object([("type", .string("string"))]),
        parse: { NeverIntercept.scope($0) == nil ? nil : $0 }, show: { .plain($0) })
}
