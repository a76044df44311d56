import HTTPMessage
import ProxyPolicy
import TestSupport
import Testing

@testable import LarderSettings

@Suite("policy.shadow")
struct ShadowPolicyTests {
    private func load(_ shadow: String, _ folder: TemporaryFolder) throws -> SettingsReader.Outcome {
        _ = try folder.write(shadow, to: "next.yaml")
        let file = try folder.write("policy: {shadow: next.yaml}\n", to: "l.yaml")
        return SettingsSources(file: file, environment: [:], trustFiles: TrustFiles(systemBundles: [])).load().outcome
    }

    @Test("The shadow's rules and egress are read from the file, beside the settings that name it")
    func isRead() throws {
        let outcome = try load("egress: {default: deny}\nrules: [{name: a, allow: {}}]\n", TemporaryFolder())
        guard case .settings(let settings) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(settings.shadow.loaded?.rules.map(\.name) == ["a"])
        #expect(settings.shadow.loaded?.egress.default == .deny)
        #expect(settings.policy.isEmpty && settings.policy.egress.default == .allow)
    }

    @Test("A mistake in the shadow file is reported as a mistake in the settings, with its own file, line and column")
    func reportsMistakes() throws {
        let folder = try TemporaryFolder()
        guard case .problems(let problems) = try load("rules:\n  - {name: a, alow: {}}\n", folder) else {
            return #expect(Bool(false))
        }
        let texts = problems.map(\.description)
        #expect(texts.allSatisfy { $0.hasPrefix("\(folder.path)/next.yaml:2:") }, "\(texts)")
        #expect(texts.contains { $0.contains("unknown key `alow`; did you mean `allow`?") }, "\(texts)")
    }

    @Test("A shadow file that does not exist is a mistake, at the place of the setting")
    func needsFile() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("loops: 1\npolicy: {shadow: none.yaml}\n", to: "l.yaml")
        let outcome = SettingsSources(file: file, environment: [:], trustFiles: TrustFiles(systemBundles: [])).load().outcome
        guard case .problems(let problems) = outcome else { return #expect(Bool(false)) }
        #expect(
            problems.map(\.description) == [
                "\(file):2:18: policy.shadow: cannot read \(folder.path)/none.yaml: No such file or directory"
            ])
    }
}
