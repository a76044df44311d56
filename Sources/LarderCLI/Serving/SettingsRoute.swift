import LarderSettings
import ProxyAdmin
import TextCoding

/// `GET /v1/settings`: the active settings without secrets, each with its source.
enum SettingsRoute {
    /// - Parameters:
    ///   - started: the settings at the start. A setting that no reload changes keeps its value from there.
    ///   - active: returns the active settings, and the source of each setting that a source sets.
    static func route(
        _ started: LarderSettings, _ active: @escaping @Sendable () -> (settings: LarderSettings, origins: [String: String])
    ) -> AdminRoute {
        AdminRoute(.get, "/v1/settings", .read) { _, exchange in
            let (settings, origins) = active()
            exchange.answer(
                json: .object([
                    (
                        "settings",
                        .array(
                            SettingsSchema.settings.map { setting in
                                let read = setting.text(in: settings)
                                let value = setting.isReloadable ? read : setting.text(in: started)
                                // The value that was read takes effect at the next start.
                                let next: [(String, JSONText)] = read == value ? [] : [("next", .string(read))]
                                let origin = origins[setting.name]
                                return .object(
                                    [
                                        ("name", .string(setting.name)), ("value", .string(value)),
                                        ("default", .string(setting.defaultText)),
                                        ("source", origin.map(JSONText.string) ?? .null),
                                        ("about", .string(setting.about)),
                                    ] + next)
                            })
                    )
                ]))
        }
    }
}
