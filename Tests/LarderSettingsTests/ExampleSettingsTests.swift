import Foundation
import UpstreamTransport
@testable import LarderSettings
import ProxyPolicy
import Testing

@Suite("config/larder.example.yaml")
struct ExampleSettingsTests {
    private func example() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "config/larder.example.yaml"), encoding: .utf8)
    }

    private func read(_ text: String) throws -> SettingsReader.Outcome {
        SettingsReader.read([SettingsLayer(name: "example", root: try YAMLReader.read(text))])
    }

    private func settings(_ text: String) throws -> LarderSettings {
        switch try read(text) {
        case .settings(let settings): return settings
        case .problems(let problems):
            Issue.record("\(problems)")
            return LarderSettings()
        }
    }

    @Test("The example is valid, and its rules deny, edit, store and check")
    func isRead() throws {
        let rules = try settings(example()).rules.compiled.rules
        #expect(rules.count { $0.denies } == 4)
        #expect(Set(rules.compactMap(\.cache?.overrides.policy)).count == 6)
        #expect(Set(rules.compactMap(\.validation?.onFailure)).count == 4)
        for kind in FieldEdits.Kind.allCases {
            #expect(rules.contains { $0.request.edits.contains { $0.kind == kind } })
            #expect(rules.contains { $0.response.edits.contains { $0.kind == kind } })
        }
    }

    @Test("The hosts in the example are pinned, probed, weakened for a time and denied")
    func trusts() throws {
        let terms = try settings(example()).tls.hosts.entries.map(\.terms)
        #expect(terms.compactMap(\.pins).map(\.isReportOnly) == [false, true])
        #expect(terms.count { $0.until != nil } == 1)
        #expect(Set(terms.map(\.connectWay)) == Set(ConnectWay.allCases).subtracting([.intercept]))
    }

    @Test("The commented lines are all other settings with their defaults")
    func showsDefaults() throws {
        let lines = try example().split(separator: "\n", omittingEmptySubsequences: false).prefix { $0 != "rules:" }
        let settingLines = lines.filter { $0.hasPrefix("# ") }.map { $0.dropFirst(2) }.filter { line in
            let trimmed: Substring = line.drop { $0 == " " }
            let rest: Substring = trimmed.drop { $0.isLowercase || $0.isNumber || $0 == "_" }
            return rest.first == ":"
        }
        let text = settingLines.joined(separator: "\n")
        #expect(try settings(text) == LarderSettings())
        let node = try YAMLReader.read(text)
        for setting in SettingsSchema.settings where setting.parts != ["rules"] {
            #expect(Self.contains(setting.parts[...], in: node), "\(setting.parts.joined(separator: "."))")
        }
    }

    @Test("An invalid line in the example is reported with its line and column")
    func wrongLine() throws {
        let text = try example().replacingOccurrences(of: "policy: reload}", with: "policy: relod}")
        let line =
            try #require(text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("relod}") }) + 1
        guard case .problems(let problems) = try read(text) else {
            Issue.record("a wrong word was read")
            return
        }
        #expect(problems.map(\.problem.line) == [line])
        #expect(problems.map(\.problem.column) == [21])
        #expect(problems.map(\.problem.suggestion) == ["reload"])
    }

    private static func contains(_ parts: ArraySlice<String>, in node: SettingsNode) -> Bool {
        guard let first = parts.first else { return true }
        guard case .mapping(let entries) = node.value, let entry = entries.first(where: { $0.key == first }) else { return false }
        return contains(parts.dropFirst(), in: entry.value)
    }
}
