/// Pins that are proposed for a server, ready to be shown or written.
package struct LearnedPins {
    let server: NamedServer
    /// What was seen and what there is to choose, as comments.
    package let remarks: String
    /// A file of `tls.pins_from`.
    package let settings: String
    /// A file in PEM that the settings name, where the pin is an anchor as well.
    var anchor: String?

    package init(server: NamedServer, remarks: String, settings: String, anchor: String? = nil) {
        self.server = server
        self.remarks = remarks
        self.settings = settings
        self.anchor = anchor
    }
}
