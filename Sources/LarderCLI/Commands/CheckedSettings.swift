import CommandSupport
import LarderSettings
import TextCoding

/// What `config check` and `policy check` print about settings without mistakes.
struct CheckedSettings {
    let loaded: LoadedSettings
    let allowsEmpty: Bool

    init(_ loaded: LoadedSettings, allowsEmpty: Bool) {
        self.loaded = loaded
        self.allowsEmpty = allowsEmpty
    }

    func tell() {
        let remarks = allowsEmpty ? [] : loaded.remarks
        for warning in remarks + loaded.settings.tls.warnings() + loaded.settings.admissionWarnings + loaded.settings.rules.warnings {
            Terminal.talk("larder: warning: \(printable(warning, limit: 4096))\n")
        }
        let count = loaded.settings.rules.compiled.rules.count
        let source = loaded.file ?? "no settings file"
        let verdict = loaded.file.map(loaded.emptyFiles.contains) == true ? "empty" : "good"
        Terminal.output("\(source): \(verdict), \(count) rule\(count == 1 ? "" : "s")\n")
    }
}
