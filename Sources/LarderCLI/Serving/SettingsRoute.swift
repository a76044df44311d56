import LarderSettings
import ProxyAdmin
import TextCoding

/// `GET /v1/settings`: the active settings without secrets, each with its source.
enum SettingsRoute {
    /// - Parameter active: returns the active settings, and the source of each setting that a source sets.
    static func route(
        _ active: @escaping @Sendable () -> (settings: LarderSettings, origins: [String: String])
    ) -> AdminRoute {
        AdminRoute(.get, "/v1/settings", .read) { _, exchange in
            let (settings, origins) = active()
            exchange.answer(
                json: .object([
                    (
                        "settings",
                        .array(
                            SettingsSchema.settings.map { setting in
                                let value = setting.text(in: settings)
                                let origin = origins[setting.name]
                                return .object([
                                    ("name", .string(setting.name)), ("value", .string(value)),
                                    ("default", .string(setting.defaultText)), ("source", origin.map(JSONText.string) ?? .null),
                                    ("about", .string(setting.about)),
                                ])
                            })
                    )
                ]))
        }
    }
}
