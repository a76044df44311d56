import LarderSettings
import PolicyTools
import ProxyPolicy

extension FuzzTarget {
    /// Any text is a squid.conf whose import is a settings file without a mistake, with a reason for each line that is not imported.
    package static let squidImport = FuzzTarget("SquidImport") { octets in
        let imported = SquidImport(String(decoding: octets, as: UTF8.self))
        do throws(SettingsProblems) {
            let layer = SettingsLayer(name: "f", root: try YAMLReader.read(imported.settings))
            guard case .settings = SettingsReader.read([layer]) else { return "the settings have a mistake" }
        } catch {
            return "the settings are no YAML"
        }
        let lines = octets.count { $0 == 0x0A } + 1
        return imported.remarks.allSatisfy { (1...lines).contains($0.line) && !$0.text.isEmpty } ? nil : "a remark stands nowhere"
    }
}
