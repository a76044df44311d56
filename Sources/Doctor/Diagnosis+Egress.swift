import LarderSettings

extension Diagnosis {
    /// Which addresses Larder cannot check.
    /// - Returns: `nil` if Larder checks each address that it connects to.
    package func addresses(_ loaded: LoadedSettings) -> Finding? {
        guard let way = loaded.settings.upstream.usualWaySummary else { return nil }
        return Finding(
            "addresses", .notable,
            "requests take the way \(way), which looks up names, so egress.addresses applies only to URLs that contain an IP address"
        )
    }
}
