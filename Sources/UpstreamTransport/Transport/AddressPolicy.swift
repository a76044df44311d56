import HTTPMessage

/// Which addresses may be connected to. Judged on the address really connected, so that no name and no spelling hides one.
package struct AddressPolicy: Equatable, Sendable {
    package var denied: [AddressRange]
    package var own = OwnListeners.none

    package init(denied: [AddressRange]) { self.denied = denied }

    /// Link-local addresses and the metadata services of clouds. Loopback and private ones are a developer's daily bread.
    package static let standard = AddressPolicy(denied: AddressRange.metadataServices)

    /// Why nothing connects there; `nil` where nothing is against it.
    package func refusal(of address: IPAddress, port: UInt16) -> TransportError? {
        if own.contains(address, port: port) { return .ownListener }
        return denied.contains { $0.contains(address) } ? .destinationProhibited(address) : nil
    }
}
