import LarderSettings
import ServerTrust

extension LarderSettings {
    /// Warnings about how clients are admitted.
    var admissionWarnings: [String] {
        var warnings: [String] = []
        if clients.passwords != nil, let open = listen.first(where: { !$0.isLoopback && $0.tls == nil }) {
            warnings.append(
                "clients.passwords: clients send user names and passwords to \(open) in plain text; anyone on the network path can read them"
            )
        }
        for (address, loaded) in zip(listen, loadedListeners.all) {
            guard let facts = loaded?.identity?.certificates.first?.facts else { continue }
            if let end = facts.notAfter, end < .now {
                warnings.append("listen: the certificate of \(address) has expired, at \(end.rfc3339)")
            }
            if facts.names.isEmpty {
                warnings.append("listen: the certificate of \(address) contains no host, so clients reject it")
            }
        }
        return warnings
    }
}
