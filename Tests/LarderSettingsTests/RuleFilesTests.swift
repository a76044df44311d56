import Foundation
import LarderSettings
import TestSupport
import Testing

@Suite("Variables and included files of rules")
struct RuleFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String, to name: String = "main.yaml") throws {
        let path = "\(folder.path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func load() throws -> LarderSettings {
        switch SettingsSources(file: "\(folder.path)/main.yaml", environment: [:]).load().outcome {
        case .settings(let settings): return settings
        case .problems(let problems): throw Problems(texts: problems.map(\.description))
        }
    }

    private struct Problems: Error { let texts: [String] }

    /// The problems, without the path of the folder.
    private func problems() -> [String] {
        do {
            _ = try load()
            return []
        } catch let problems as Problems {
            return problems.texts.map { $0.replacingOccurrences(of: folder.path + "/", with: "") }
        } catch {
            return ["\(error)"]
        }
    }

    @Test("A variable stands for a value, for a list, or for a part of a text")
    func replaces() throws {
        try write(
            """
            variables: {hosts: [a.test, "*.b.test"], port: 8443, project: org/repo}
            rules:
              - {name: list, match: {host: $(hosts), port: $(port)}, deny: {}}
              - {name: item, match: {host: [c.test, $(hosts)], path: [/$(project)/**, "/$$(x)"]}, deny: {}}
              - {name: nested, match: {query: {q: $(project)}, not: {host: $(hosts)}}, deny: {reason: "$(hosts) stay"}}
            """)
        let rules = try load().rules.compiled.rules
        #expect(rules[0].condition.hosts.count == 2 && rules[0].condition.ports == [8443...8443])
        #expect(rules[1].condition.hosts.count == 3)
        #expect(rules[1].condition.paths.map(\.text) == ["/org/repo/**", "/$(x)"])
        #expect(rules[2].condition.queries[0].values[0].bytes == Array("org/repo".utf8))
        #expect(rules[2].condition.exclusions[0].hosts.count == 2)
        #expect(rules[2].reason == "$(hosts) stay")
    }

    @Test("The rules of included files come first, and share the variables")
    func includes() throws {
        try write(
            "include: [lists/one.yaml, two.yaml]\nvariables: {a: a.test}\nrules: [{name: main, match: {host: $(b)}, deny: {}}]")
        try write("include: ../three.yaml\nrules: [{name: one, match: {host: $(a)}, deny: {}}]", to: "lists/one.yaml")
        try write("variables: {b: b.test}", to: "two.yaml")
        try write("rules: [{name: three, deny: {}}]", to: "three.yaml")
        #expect(try load().rules.compiled.rules.map(\.name) == ["three", "one", "main"])
        try write("include: three.yaml")
        #expect(try load().rules.compiled.rules.map(\.name) == ["three"])
    }

    @Test("A mistake names the file, the line and the column where it stands")
    func places() throws {
        try write("include: one.yaml\nrules:\n  - {name: a, match: {host: $(hots)}, deny: {}}\nvariables: {hosts: a.test}")
        try write("rules: []", to: "one.yaml")
        #expect(problems() == ["main.yaml:3:29: rules[0].match.host: unknown variable `hots`; did you mean `hosts`?"])
        try write("include: one.yaml\nrules: [{name: a, match: {pth: /x}, deny: {}}]")
        try write("rules:\n  - {name: a, match: {host: a b}, deny: {}}\n  - {name: b, dney: {}, deny: {}}", to: "one.yaml")
        let found = problems()
        #expect(found.contains { $0.hasPrefix("one.yaml:2:29: rules[0].match.host: `a b` is not a host") }, "\(found)")
        #expect(found.contains { $0.hasPrefix("one.yaml:3:15: rules[1]: unknown key `dney`; did you mean `deny`?") }, "\(found)")
        #expect(found.contains { $0.hasPrefix("main.yaml:2:27: rules[2].match: unknown key `pth`") }, "\(found)")
        try write("rules: [", to: "one.yaml")
        #expect(problems().allSatisfy { $0.hasPrefix("one.yaml:1:") })
        try write("include: one.yaml\nrules: [{name: a, deny: {}}]")
        try write("rules: [{name: a, deny: {}}]", to: "one.yaml")
        #expect(problems() == ["main.yaml:2:9: rules[1]: a rule named `a` is already in another file, at line 1"])
    }

    @Test("A cycle, a file that is included twice, too many files and too deep ones are errors")
    func bounds() throws {
        try write("include: one.yaml")
        try write("include: main.yaml", to: "one.yaml")
        #expect(problems().count == 1 && problems()[0].hasPrefix("one.yaml:1:10: include: "))
        try write("include: [one.yaml, ./one.yaml]")
        try write("rules: []", to: "one.yaml")
        #expect(problems().count == 1 && problems()[0].contains("is included twice"))
        try write("include: [\((0...64).map { "f\($0).yaml" }.joined(separator: ", "))]")
        for number in 0...64 { try write("rules: []", to: "f\(number).yaml") }
        #expect(problems().count == 1 && problems()[0].contains("more than 64 files"))
        try write("include: f0.yaml")
        for number in 0..<9 { try write("include: f\(number + 1).yaml", to: "f\(number).yaml") }
        #expect(problems().count == 1 && problems()[0].contains("more than 8 levels deep"))
        try write("include: none.yaml")
        #expect(problems() == ["main.yaml:1:10: include: cannot read none.yaml: No such file or directory"])
        try write("include: one.yaml")
        try write("loops: 2", to: "one.yaml")
        #expect(problems() == ["one.yaml:1:1: unknown key `loops`"])
    }

    @Test(
        "A variable with a wrong name or value, and a text that it does not fit into, are errors",
        arguments: [
            ("{a b: x}", "/x", "a variable's name may contain only letters"),
            ("{a: {b: c}}", "/x", "expected a value or a list, found a mapping"),
            ("{a: []}", "/x", "the list is empty"), ("{a: $(b)}", "/x", "a variable cannot contain `$(name)`"),
            ("[a]", "/x", "expected a mapping"),
            ("{a: [x, y]}", "/$(a)", "a variable inside a longer text must be a single value"),
            ("{a: x}", "/$(a", "`$(` is not closed"), ("{a: x}", "/$(b)", "unknown variable `b`"),
        ])
    func mistakes(variables: String, path: String, problem: String) throws {
        try write("variables: \(variables)\nrules: [{name: n, match: {path: \"\(path)\"}, deny: {}}]")
        #expect(problems().count == 1 && problems()[0].contains(problem), "\(problems())")
    }

    @Test("The number of values that variables expand to is limited")
    func multiplies() throws {
        let list = (0..<1000).map { "h\($0)" }.joined(separator: ", ")
        try write(
            "variables: {a: [\(list)]}\nrules:\n" + (0...200).map { "- {name: r\($0), match: {host: $(a)}, deny: {}}\n" }.joined()
        )
        #expect(problems().count == 1 && problems()[0].contains("more than 200000 values"), "\(problems().count)")
    }

    @Test("Only a settings file may include others")
    func onlyFiles() {
        let outcome = SettingsSources(assignments: ["include=one.yaml"], environment: [:]).load().outcome
        guard case .problems(let problems) = outcome else { return #expect(Bool(false)) }
        #expect(problems.map(\.description) == ["--set include: unknown key `include`"])
    }
}
