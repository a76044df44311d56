import LarderSettings
import ServerTrust

extension LarderSettings {
    /// What a person should know of how clients are let in.
    var admissionWarnings: [String] {
        var warnings: [String] = []
        if clients.passwords != nil, let open = listen.first(where: { !$0.isLoopback && $0.tls == nil }) {
            warnings.append(
                "clients.passwords: to \(open) names and passwords travel in plain text, for whoever is on the way to read")
        }
        for (address, loaded) in zip(listen, loadedListeners.all) {
            guard let facts = loaded?.identity?.certificates.first?.facts else { continue }
            if let end = facts.notAfter, end < .now {
                warnings.append("listen: the certificate of \(address) has expired, at \(end.rfc3339)")
            }
            if facts.names.isEmpty {
                warnings.append("listen: the certificate of \(address) is for no host: clients do not believe it")
            }
        }
        return warnings
    }
}
