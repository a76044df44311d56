import TextCoding

/// Generates documentation from the table of settings: the JSON Schema for editors and docs/configuration.md for people.
package enum SettingsDocumentation {
    package static var jsonSchema: JSONText {
        guard case .object(let members) = group("") else { preconditionFailure("a group is an object") }
        return .object(
            [
                ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
                ("title", .string("Settings of Larder")),
            ] + members)
    }

    private static func group(_ group: String) -> JSONText {
        var members = SettingsSchema.names(below: group).map { name -> (String, JSONText) in
            let full = group.isEmpty ? name : "\(group).\(name)"
            guard let setting = SettingsSchema.byName[full] else { return (name, Self.group(full)) }
            guard case .object(let form) = setting.formSchema else { return (name, setting.formSchema) }
            return (name, .object([("description", .string(setting.about))] + form + [("default", json(setting.defaultValue))]))
        }
        if group.isEmpty { members += ofFilesOnly }
        return .object([
            ("type", .string("object")), ("additionalProperties", .bool(false)), ("properties", .object(members)),
        ])
    }

    /// The keys that only a settings file can have (`RuleFiles`).
    private static var ofFilesOnly: [(String, JSONText)] {
        let values = ValueForm<[String]>.list(of: .path).schema
        let value = JSONText.object([("type", .array([.string("string"), .string("number"), .string("boolean")]))])
        let variable = JSONText.object([
            ("anyOf", .array([value, .object([("type", .string("array")), ("items", value)])]))
        ])
        return [
            (
                "include",
                .object([
                    (
                        "description",
                        .string("Files of rules, relative to this file. These rules come before the rules of this file.")
                    ),
                    ("anyOf", .array([ValueForm<String>.path.schema, values])),
                ])
            ),
            (
                "variables",
                .object([
                    (
                        "description",
                        .string(
                            "Variables: each is a value or a list of values. Larder replaces `$(name)` in a rule's match with the value."
                        )
                    ),
                    ("type", .string("object")), ("additionalProperties", variable),
                ])
            ),
        ]
    }

    private static func json(_ value: ShownValue) -> JSONText {
        switch value {
        case .plain(let text): Int(text).map(JSONText.number) ?? Bool(text).map(JSONText.bool) ?? .string(text)
        case .text(let text): .string(text)
        case .list(let values): .array(values.map(json))
        case .mapping(let entries): .object(entries.map { ($0.key, json($0.value)) })
        }
    }

    package static var markdown: String {
        """
        # Settings

        <!-- Generated from the table in Sources/LarderSettings/Settings/SettingsSchema.swift by `make docs`; a test compares them. -->

        This page lists every setting, its default and where to set it. Each setting has one dotted name. Larder takes its value from the
        first of these places that has one:

        1. a flag: `--set store.disk.high=10GiB` (any setting, the value as YAML, repeatable), or a flag of its own (`--listen`, `--store`);
        2. an environment variable: `LARDER_STORE_DISK_HIGH=10GiB`;
        3. the settings file: `-c FILE`, else `$XDG_CONFIG_HOME/larder/config.yaml` (`~/.config/larder/config.yaml`), else
           `/etc/larder/config.yaml`, if it exists;
        4. the default.

        The file is YAML; the dots in a name are its levels:

        ```yaml
        store:
          disk: {high: 10GiB, low: 8GiB}
        clients:
          allow: [192.168.1.0/24]
        ```

        If a key is unknown, or a value has the wrong type or is out of range, Larder does not start. It prints the file, line and
        column and the probable correction, and exits with 2.

        - `larder config check` checks the settings without starting.
        - `larder config show` prints the active settings, without secrets.
        - `larder config schema` prints a JSON Schema for editors.

        A value replaces the value from a lower place. `rules`, `tls.hosts`, `tls.client_certificates`, `resolve` and every list are one
        value each: a `--policy` file that sets `rules` replaces your rules ([run.md](run.md#a-second-settings-file)).
        Larder ignores an environment variable that begins with `LARDER_` and is not a setting, because other programs may use the
        prefix. It warns about a variable whose name is similar to a setting's.

        Sizes are `512B`, `16KiB`, `1.5GiB`, `2MB`, or a number of bytes; times are `250ms`, `30s`, `5m`, `1h`, `1d`, or a number of seconds.

        SIGHUP reloads the file. Settings marked ↻ take effect at once, the others at the next start. If the file has a mistake, Larder
        rejects it as a whole and keeps the active settings. YAML requires quotes around a value that starts with `*`; Larder reads at most
        \(YAMLReader.aliasLimit) aliases.

        ## All settings

        | Setting | Default | Description |
        | --- | --- | --- |
        \(SettingsSchema.settings.map(row).joined(separator: "\n"))

        ## Renamed settings

        Larder reads an old name for one version, with a warning that gives the new one. A file that sets both is rejected.

        | Old name | New name | Since |
        | --- | --- | --- |
        \(RenamedSetting.all.map { "| `\($0.old)` | `\($0.new)` | \($0.since) |" }.joined(separator: "\n"))

        ## Removed settings

        The values of these settings are fixed. Larder reads the names for one version, ignores the values, and warns of each.

        | Setting | Fixed value | Since |
        | --- | --- | --- |
        \(RemovedSetting.all.map { "| `\($0.name)` | \($0.value) | \($0.since) |" }.joined(separator: "\n"))

        """
    }

    private static func row(_ setting: Setting) -> String {
        let mark = setting.isReloadable ? " ↻" : ""
        let form = setting.formAbout.prefix(1).uppercased() + setting.formAbout.dropFirst()
        return "| `\(setting.name)`\(mark) | `\(YAMLWriter.inline(setting.defaultValue))` | \(setting.about) \(form). |"
    }
}
