import ProxyPolicy

@testable import LarderSettings

/// Settings parsed from a text, as from a file called `larder.yaml`.
func settings(_ yaml: String) throws -> LarderSettings {
    let layer = SettingsLayer(name: "larder.yaml", root: try YAMLReader.read(yaml))
    guard case .settings(let settings) = SettingsReader.read([layer]) else { throw SettingsProblems() }
    return settings
}
