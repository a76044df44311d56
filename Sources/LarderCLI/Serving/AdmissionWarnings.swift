extension LarderSettings {
    /// What a person should know of how clients are let in.
    var admissionWarnings: [String] {
        guard clients.passwords != nil, let open = listen.first(where: { !$0.isLoopback && $0.tls == nil }) else { return [] }
        return ["clients.passwords: to \(open) names and passwords travel in plain text, for whoever is on the way to read"]
    }
}
