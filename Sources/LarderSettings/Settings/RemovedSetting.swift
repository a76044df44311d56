import ProxyPolicy
import TextCoding

/// A former setting, whose value is now fixed because users need not choose it. For one version after the removal, Larder accepts the
/// name, ignores the value, and warns.
struct RemovedSetting: Sendable {
    /// The dotted name of the setting.
    let name: String
    /// The fixed value, as messages show it.
    let value: String
    /// The version that removed the setting.
    let since: String

    static let all = [
        RemovedSetting(name: "limits.chunk_line", value: "256 bytes", since: "0.2"),
        RemovedSetting(name: "limits.trailers", value: "8 KiB", since: "0.2"),
        RemovedSetting(name: "limits.gathered_requests", value: "64 MiB", since: "0.2"),
        RemovedSetting(name: "limits.transformed_bodies", value: "64 MiB", since: "0.2"),
        RemovedSetting(name: "timeouts.first_octets", value: "2 s", since: "0.2"),
        RemovedSetting(name: "timeouts.half_closed", value: "5 s", since: "0.2"),
        RemovedSetting(name: "upstream.queue", value: "1024 requests", since: "0.2"),
        RemovedSetting(name: "replay.max_whole_body", value: "1 MiB", since: "0.2"),
        RemovedSetting(name: "replay.max_decoded_body", value: "8 MiB", since: "0.2"),
        RemovedSetting(name: "replay.max_sessions", value: "4096 clients", since: "0.2"),
        RemovedSetting(name: "replay.max_open_bodies", value: "64 bodies", since: "0.2"),
        RemovedSetting(name: "traces.memory", value: "12 MiB", since: "0.2"),
    ]

    /// Removes the former settings from the layer, and appends a warning for each.
    static func apply(to layer: inout SettingsLayer, warnings: inout [String]) {
        for setting in all {
            let parts = setting.name.split(separator: ".")
            guard let entry = layer.root.entry(at: parts[...]) else { continue }
            layer.root = layer.root.removing(parts[...])
            warnings.append(
                "\(layer.position(of: entry)): the setting \(setting.name) was removed in \(setting.since); its value is always "
                    + "\(setting.value), and the next version rejects the name")
        }
    }
}
