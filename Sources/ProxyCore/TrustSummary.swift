/// A summary of a trust policy, for explanations.
package struct TrustSummary: Sendable {
    package enum PinState: String, Sendable, CaseIterable {
        /// Pins apply: a server that presents none of the pinned keys is refused.
        case enforced
        case reportedOnly = "reported_only"
        /// Pins are set, but have expired, so they do not apply.
        case expired
    }

    /// The place in the settings, with its folder: `/etc/larder/larder.yaml:14:5`; empty if the policy has no place.
    package let place: String
    /// The number of trusted CA certificates; `nil` if the pins replace them.
    package let anchorCount: Int?
    /// The pins, each as `sha256/…`.
    package let pins: [String]
    /// Whether the pins apply; `nil` if there are no pins.
    package let pinState: PinState?
    /// Whether the policy accepts certificates that are rejected by default.
    package let isWeakened: Bool

    package init(place: String, anchorCount: Int?, pins: [String], pinState: PinState?, isWeakened: Bool) {
        self.place = place
        self.anchorCount = anchorCount
        self.pins = pins
        self.pinState = pinState
        self.isWeakened = isWeakened
    }
}
