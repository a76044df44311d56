import CommandSupport
import LarderSettings
import PolicyTools
import TextCoding

/// The output of `config check` and `policy check` for settings without mistakes.
struct CheckedSettings {
    let loaded: LoadedSettings
    let allowsEmpty: Bool

    init(_ loaded: LoadedSettings, allowsEmpty: Bool) {
        self.loaded = loaded
        self.allowsEmpty = allowsEmpty
    }

    func tell() {
        let remarks = allowsEmpty ? [] : loaded.remarks
        let settings = loaded.settings
        for warning in remarks + settings.tls.warnings() + settings.admissionWarnings + settings.rules.warnings + ruleWarnings {
            Terminal.talk("larder: warning: \(printable(warning, limit: 4096))\n")
        }
        let count = settings.rules.compiled.rules.count
        let source = loaded.file ?? "no settings file"
        let verdict = loaded.file.map(loaded.emptyFiles.contains) == true ? "empty" : "good"
        let tests = settings.tests.read.count
        let passed = tests == 0 ? "" : ", \(tests) test\(tests == 1 ? " passes" : "s pass")"
        let way = loaded.settings.upstream.usualWaySummary.map { ", upstream way \($0)" } ?? ""
        Terminal.output("\(source): \(verdict), \(count) rule\(count == 1 ? "" : "s")\(way)\(passed)\n")
    }

    /// Rules that have no effect.
    private var ruleWarnings: [String] {
        let policy = loaded.settings.policy
        let places = loaded.settings.rules.places
        return RuleChecks.remarks(on: policy).map { remark in
            remark.text(of: policy) { places[$0] == .none ? "another file" : "line \(places[$0].line)" }
        }
    }
}
