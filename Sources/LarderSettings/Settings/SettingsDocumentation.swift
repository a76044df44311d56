import TextCoding

/// What is generated from the table of settings: the JSON Schema for editors and docs/configuration.md for people.
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
        let members = SettingsSchema.names(below: group).map { name -> (String, JSONText) in
            let full = group.isEmpty ? name : "\(group).\(name)"
            guard let setting = SettingsSchema.byName[full] else { return (name, Self.group(full)) }
            guard case .object(let form) = setting.formSchema else { return (name, setting.formSchema) }
            return (name, .object([("description", .string(setting.about))] + form + [("default", json(setting.defaultValue))]))
        }
        return .object([
            ("type", .string("object")), ("additionalProperties", .bool(false)), ("properties", .object(members)),
        ])
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

        Each setting has one dotted name. It is set, the strongest first, by

        1. a flag: `--set store.disk.high=10GiB` (any setting, the value as YAML, repeatable), or one of its own (`--listen`, `--store`);
        2. an environment variable: `LARDER_STORE_DISK_HIGH=10GiB`;
        3. the settings file: `-c FILE`, else `$XDG_CONFIG_HOME/larder/config.yaml` (`~/.config/larder/config.yaml`), else
           `/etc/larder/config.yaml`, if there;
        4. its default.

        The file is YAML; the dots are its levels:

        ```yaml
        store:
          disk: {high: 10GiB, low: 8GiB}
        clients:
          allow: [192.168.1.0/24]
        ```

        An unknown key, a wrong type or a bad value stops Larder with the file, line and column, what was probably meant, and exit
        code 2. `larder config check` looks without starting, `larder config show` prints what is active (secrets left out), and
        `larder config schema` prints a JSON Schema for editors. A list replaces the one of a weaker place; it is not added to it.
        An environment variable that begins with `LARDER_` and is no setting does not stop Larder, since others put theirs there: it is
        warned of where its name is near a setting's.

        Sizes are `512B`, `16KiB`, `1.5GiB`, `2MB`, or bare bytes; times are `250ms`, `30s`, `5m`, `1h`, `1d`, or bare seconds. SIGHUP
        reads the file again: settings marked ↻ take effect at once, the others at the next start, and a file with a mistake is
        refused as a whole. A `*` at the beginning of a value stands in quotes; at most \(YAMLReader.aliasLimit) aliases are read.

        ## All settings

        | Setting | Default | What it is |
        | --- | --- | --- |
        \(SettingsSchema.settings.map(row).joined(separator: "\n"))

        ## Renamed settings

        Larder reads an old name for one version, with a warning that gives the new one. A file that sets both is rejected.

        | Old name | New name | Since |
        | --- | --- | --- |
        \(RenamedSetting.all.map { "| `\($0.old)` | `\($0.new)` | \($0.since) |" }.joined(separator: "\n"))

        ## Removed settings

        These bounds are fixed. Larder reads their names for one version, ignores the values, and warns of each.

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
