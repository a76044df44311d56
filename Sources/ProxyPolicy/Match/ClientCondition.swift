import HTTPMessage

/// A rule's conditions on the client. An empty list matches all clients.
package struct ClientCondition: Sendable {
    package var addresses: [AddressRange] = []
    package var users: [ValuePattern] = []
    package var certificates: [ValuePattern] = []
    package var runs: [ValuePattern] = []

    package init() {}

    var isEmpty: Bool { addresses.isEmpty && users.isEmpty && certificates.isEmpty && runs.isEmpty }

    func matches(_ client: borrowing ClientFacts, as readings: MatchedReadings) -> Bool {
        matchesAddress(client.address, as: readings) && Self.matches(users, client.user) && Self.matches(runs, client.run)
            && matchesCertificate(client.certificateNames)
    }

    private func matchesAddress(_ address: IPAddress?, as readings: MatchedReadings) -> Bool {
        guard !addresses.isEmpty else { return true }
        guard let address else { return readings == .any }
        for range in addresses where range.contains(address) { return true }
        return false
    }

    /// A client without a name matches no pattern.
    private static func matches(_ patterns: [ValuePattern], _ name: [UInt8]) -> Bool {
        patterns.isEmpty || !name.isEmpty && patterns.contains(matching: name.span, isFolded: false)
    }

    private func matchesCertificate(_ names: [[UInt8]]) -> Bool {
        guard !certificates.isEmpty else { return true }
        for name in names where certificates.contains(matching: name.span, isFolded: false) { return true }
        return false
    }
}
