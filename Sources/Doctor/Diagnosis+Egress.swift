import LarderSettings

extension Diagnosis {
    /// Which addresses Larder cannot check.
    /// - Returns: `nil` if Larder checks each address that it connects to.
    package func addresses(_ loaded: LoadedSettings) -> Finding? {
        guard loaded.settings.upstream.proxy != nil else { return nil }
        return Finding(
            "addresses", .notable,
            "the upstream proxy looks up names, so egress.addresses applies only to URLs that contain an IP address")
    }
}
