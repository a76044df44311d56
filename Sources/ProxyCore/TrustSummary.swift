/// A trust policy in few words, for explanations.
package struct TrustSummary: Sendable {
    package enum PinState: String, Sendable, CaseIterable {
        /// A server with none of the pins is refused.
        case enforced
        case reportedOnly = "reported_only"
        /// The pins' time is over.
        case expired
    }

    /// The place in the settings, with its folder: `/etc/larder/larder.yaml:14:5`. Empty where it stands nowhere.
    package let place: String
    /// How many anchors there are; `nil` where the pins are the anchors.
    package let anchorCount: Int?
    /// `sha256/…`
    package let pins: [String]
    /// `nil` without pins.
    package let pinState: PinState?
    /// It lets pass what is usually refused.
    package let isWeakened: Bool

    package init(place: String, anchorCount: Int?, pins: [String], pinState: PinState?, isWeakened: Bool) {
        self.place = place
        self.anchorCount = anchorCount
        self.pins = pins
        self.pinState = pinState
        self.isWeakened = isWeakened
    }
}
