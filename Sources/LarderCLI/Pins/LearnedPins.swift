/// Pins that are proposed for a server, ready to be shown or written.
struct LearnedPins {
    let server: NamedServer
    /// What was seen and what there is to choose, as comments.
    let remarks: String
    /// A file of `tls.pins_from`.
    let settings: String
    /// A file in PEM that the settings name, where the pin is an anchor as well.
    var anchor: String?
}
