import HTTPMessage

/// The addresses that may be connected to. The check uses the address that is actually connected to, so that no name or spelling can hide
/// a denied address.
///
/// The fields are evaluated in their order. No setting permits a connection to Larder's own listeners.
package struct AddressPolicy: Equatable, Sendable {
    package var own = OwnListeners.none
    package var allowed: [AllowedAddress]
    package var denied: [AddressRange]
    /// Whether loopback, private and other addresses that are not public (`AddressRange.privateNetworks`) are denied.
    package var deniesPrivate: Bool

    package init(denied: [AddressRange], allowed: [AllowedAddress] = [], deniesPrivate: Bool = false) {
        self.allowed = allowed
        self.denied = denied
        self.deniesPrivate = deniesPrivate
    }

    /// Denies link-local addresses and the metadata services of clouds. Loopback and private addresses are allowed: developers
    /// need them daily.
    package static let standard = AddressPolicy(denied: AddressRange.metadataServices)

    /// The policy for connections to an upstream proxy, which the settings name: its address may be private.
    var ofUpstreamProxy: AddressPolicy {
        var policy = self
        policy.deniesPrivate = false
        return policy
    }

    /// Why a connection to this address is refused; `nil` if it is allowed.
    package func refusal(of address: IPAddress, port: UInt16) -> TransportError? {
        if own.contains(address, port: port) { return .ownListener }
        if allowed.contains(where: { $0.allows(address, port: port) }) { return nil }
        if address.reaches(denied) { return .destinationProhibited(address) }
        return deniesPrivate && address.reaches(AddressRange.privateNetworks) ? .destinationPrivate(address) : nil
    }
}
