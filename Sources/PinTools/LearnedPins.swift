/// Pins proposed for a server, ready to be shown or written.
package struct LearnedPins {
    let server: NamedServer
    /// The server's chain, and the pins that could be chosen instead, as YAML comments.
    package let remarks: String
    /// The content of a file for `tls.pins_from`.
    package let settings: String
    /// The content of a PEM file that the settings name, if the pin is also the trust anchor.
    var anchor: String?

    package init(server: NamedServer, remarks: String, settings: String, anchor: String? = nil) {
        self.server = server
        self.remarks = remarks
        self.settings = settings
        self.anchor = anchor
    }
}
