import ProxyPolicy
import TextCoding

/// One setting: its name, description and form, and its key path in `LarderSettings`.
package struct Setting: Sendable {
    /// The dotted name of the setting, for example `store.memory.high`.
    package let name: String
    package let about: String
    /// The form of the value, as text for users.
    let formAbout: String
    let formSchema: JSONText
    /// Whether a running Larder accepts a new value on SIGHUP. If not, a new value needs a restart.
    package let isReloadable: Bool
    let assign: @Sendable (SettingsCursor, inout LarderSettings, inout SettingsProblems) -> Void
    let show: @Sendable (LarderSettings) -> ShownValue

    init<Value: Sendable>(
        _ name: String, _ path: WritableKeyPath<LarderSettings, Value> & Sendable, _ form: ValueForm<Value>,
        reloadable: Bool = false, _ about: String
    ) {
        self.name = name
        self.about = about
        formAbout = form.about
        formSchema = form.schema
        isReloadable = reloadable
        assign = { cursor, settings, problems in
            if let value = form.read(cursor, &problems) { settings[keyPath: path] = value }
        }
        show = { form.show($0[keyPath: path]) }
    }

    /// The setting's value in YAML, without secrets.
    package func text(in settings: LarderSettings) -> String { YAMLWriter.inline(show(settings)) }

    package var defaultText: String { YAMLWriter.inline(defaultValue) }

    package var defaultValue: ShownValue { show(LarderSettings()) }

    /// The name of the setting's environment variable, for example `LARDER_STORE_MEMORY_HIGH`.
    package var environmentName: String { Self.environmentName(of: name) }

    static func environmentName(of name: String) -> String {
        "LARDER_" + String(name.map { $0 == "." ? "_" : Character($0.uppercased()) })
    }

    /// The parts of the name: for `store.memory.high`, these are `["store", "memory", "high"]`.
    var parts: [String] { name.split(separator: ".").map(String.init) }
}
