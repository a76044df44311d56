import CommandSupport
import LarderSettings
import TextCoding

/// What is said once the listeners are up: where it listens, where the store is, what to export.
struct StartMessage {
    let addresses: [ListenAddress]
    let storePath: String
    let settingsFile: String?
    let mode: LarderSettings.Mode

    func text(style: Terminal.Style) -> String {
        var lines = [
            style.bold("Larder \(Version.number)") + " listens on "
                + addresses.map { style.green($0.description) }.joined(separator: " and ")
        ]
        lines.append("  store     \(printable(storePath, limit: 4096))")
        if let settingsFile { lines.append("  settings  \(printable(settingsFile, limit: 4096))") }
        if mode == .auto { lines.append("  mode      auto: offline while this machine has no network") }
        if mode == .offline { lines.append("  mode      offline: nothing leaves, what is stored is served whatever its age") }
        if mode == .replay { lines.append("  mode      replay: nothing leaves, what was recorded is the answer") }
        if mode == .diff { lines.append("  mode      diff: answers are compared with what was recorded") }
        if mode == .record || mode == .recordMissing || mode == .refresh {
            lines.append(
                "  mode      \(mode.rawValue): answers are recorded, also those that no cache may keep; secrets are put out")
        }
        if let first = addresses.first {
            lines.append("  use       " + style.bold("export http_proxy=\(first.tls == nil ? "http" : "https")://\(first)"))
        }
        lines.append(style.faint("  Ctrl-C finishes what is under way and ends."))
        return lines.joined(separator: "\n") + "\n"
    }
}
