import HTTPMessage

/// The addresses that may be connected to. Checked on the address that is actually connected to, so that no name or spelling
/// can hide one.
package struct AddressPolicy: Equatable, Sendable {
    package var denied: [AddressRange]
    package var own = OwnListeners.none

    package init(denied: [AddressRange]) { self.denied = denied }

    /// Denies link-local addresses and the metadata services of clouds. Loopback and private addresses are allowed: developers
    /// need them daily.
    package static let standard = AddressPolicy(denied: AddressRange.metadataServices)

    /// Why a connection to this address is refused; `nil` if it is allowed.
    package func refusal(of address: IPAddress, port: UInt16) -> TransportError? {
        if own.contains(address, port: port) { return .ownListener }
        return denied.contains { $0.contains(address) } ? .destinationProhibited(address) : nil
    }
}
