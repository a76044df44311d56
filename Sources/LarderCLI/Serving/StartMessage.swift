import CommandSupport
import LarderSettings
import TextCoding

/// The message after the listeners are open: the addresses, the store's path, the variables to export.
struct StartMessage {
    let addresses: [ListenAddress]
    let storePath: String
    let settingsFile: String?
    /// The address of `metrics.listen`.
    var metrics: ListenAddress?
    /// The address of `admin.listen`.
    var page: ListenAddress?
    let mode: LarderSettings.Mode

    func text(style: Terminal.Style) -> String {
        var lines = [
            style.bold("Larder \(Version.number)") + " listens on "
                + addresses.map { style.green($0.description) }.joined(separator: " and ")
        ]
        lines.append("  store     \(printable(storePath, limit: 4096))")
        if let settingsFile { lines.append("  settings  \(printable(settingsFile, limit: 4096))") }
        if let metrics { lines.append("  metrics   http://\(metrics)/metrics") }
        if let page { lines.append("  page      http://\(page)/ (`larder ui` prints a link)") }
        if mode == .auto { lines.append("  mode      auto: offline while this machine has no network") }
        if mode == .offline {
            lines.append("  mode      offline: no request is forwarded; stored responses are served at any age")
        }
        if mode == .replay { lines.append("  mode      replay: no request is forwarded; recorded responses are served") }
        if mode == .diff { lines.append("  mode      diff: responses are compared with the recorded ones") }
        if mode == .record || mode == .recordMissing || mode == .refresh {
            lines.append(
                "  mode      \(mode.rawValue): responses are recorded, including those a cache may not store; secrets are replaced"
            )
        }
        if let first = addresses.first {
            lines.append("  use       " + style.bold("export http_proxy=\(first.tls == nil ? "http" : "https")://\(first)"))
        }
        lines.append(style.faint("  Ctrl-C finishes exchanges in flight and stops."))
        return lines.joined(separator: "\n") + "\n"
    }
}
