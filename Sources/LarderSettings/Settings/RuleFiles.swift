import Foundation
import ProxyPolicy

/// Reads a settings file together with the files of rules that its `include` lists. Replaces the variables in the `match` of every
/// rule. The result has neither `include` nor `variables`.
struct RuleFiles {
    /// The maximum number of files that one file may include, directly or through other files, and the maximum depth of such includes.
    static let countLimit = 64, depthLimit = 8

    /// The settings, with all rules in one list. The rules of included files come first.
    private(set) var root = SettingsNode(.mapping([]), at: .none)
    /// The names of the included files. Their numbers, as in `SettingsPlace.file`, begin at 1.
    private(set) var names: [String] = []
    private(set) var problems: [LocatedProblem] = []
    /// The names of included files that have no rules and include no file. Such a file may have been emptied by mistake.
    private(set) var emptyNames: [String] = []
    /// The files that have been read, to find a file that is included twice.
    private var seen: Set<String> = []
    private var variables = RuleVariables()
    private var rules: [SettingsNode] = []

    static let keys = ["include", "variables"]

    init(at path: String, mayBePipe: Bool) {
        let main: SettingsNode
        do throws(SettingsProblems) {
            main = try SettingsFile.node(at: path, mayBePipe: mayBePipe)
        } catch {
            problems = error.all.map { LocatedProblem(source: path, problem: $0) }
            return
        }
        root = main
        guard case .mapping(let entries) = main.value else { return }
        seen = [Self.identity(of: path)]
        var found = SettingsProblems()
        let rest = read(entries, in: Self.folder(of: path), depth: 0, problems: &found)
        includeApprovals(entries, in: Self.folder(of: path), problems: &found)
        var own = rest.first { $0.key == "rules" }?.value
        if let list = own, case .sequence(let nodes) = list.value { own = SettingsNode(.sequence(rules + nodes), at: list.place) }
        if own == nil || own.map({ SettingsCursor($0).isNull }) == true, let first = rules.first {
            own = SettingsNode(.sequence(rules), at: first.place)
        }
        let expanded = own.map { variables.expand(rules: $0, problems: &found) }
        let others = rest.filter { $0.key != "rules" || expanded == nil }
        let place = rest.first { $0.key == "rules" }?.keyPlace ?? main.place
        root = SettingsNode(
            .mapping(others + (expanded.map { [SettingsNode.Entry(key: "rules", at: place, value: $0)] } ?? [])), at: main.place)
        problems += found.all.map { LocatedProblem(source: name(of: $0.place, main: path), problem: $0) }
    }

    /// The name of the file that contains this place.
    func name(of place: SettingsPlace, main: String) -> String { place.file == 0 ? main : names[place.file - 1] }

    /// Reads `include` and `variables` of one file.
    /// - Returns: the other entries of the file.
    private mutating func read(
        _ entries: [SettingsNode.Entry], in folder: String, depth: Int, problems: inout SettingsProblems
    ) -> [SettingsNode.Entry] {
        for entry in entries where !SettingsCursor(entry.value).isNull {
            let cursor = SettingsCursor(entry.value, path: entry.key)
            switch entry.key {
            case "variables": variables.read(cursor, problems: &problems)
            case "include":
                for item in cursor.oneOrMore(problems: &problems) {
                    guard let path = item.text(problems: &problems) else { continue }
                    include(Self.path(path, in: folder), from: item, depth: depth, problems: &problems)
                }
            default: break
            }
        }
        return entries.filter { !Self.keys.contains($0.key) }
    }

    /// Includes the file of approvers' answers (`approvals.file`), unless `include` names it too. It does not exist before the first
    /// answer.
    private mutating func includeApprovals(
        _ entries: [SettingsNode.Entry], in folder: String, problems: inout SettingsProblems
    ) {
        guard let approvals = entries.first(where: { $0.key == "approvals" })?.value,
            case .scalar(let scalar)? = approvals.member("file")?.value,
            scalar.text != "off"
        else { return }
        let path = Self.path(scalar.text, in: folder)
        guard FileManager.default.fileExists(atPath: path), !seen.contains(Self.identity(of: path)) else { return }
        include(path, from: SettingsCursor(approvals, path: "approvals"), depth: 0, problems: &problems)
    }

    static func path(_ text: String, in folder: String) -> String { text.hasPrefix("/") ? text : "\(folder)/\(text)" }

    private mutating func include(
        _ path: String, from cursor: SettingsCursor, depth: Int, problems: inout SettingsProblems
    ) {
        guard names.count < Self.countLimit else {
            return cursor.report("more than \(Self.countLimit) files are included", to: &problems)
        }
        guard depth < Self.depthLimit else {
            return cursor.report("files are included more than \(Self.depthLimit) levels deep", to: &problems)
        }
        guard seen.insert(Self.identity(of: path)).inserted else {
            return cursor.report("\(path) is included twice, or includes itself", to: &problems)
        }
        names.append(path)
        let node: SettingsNode
        do throws(SettingsProblems) {
            node = try SettingsFile.node(at: path, number: names.count)
        } catch {
            for problem in error.all {
                if problem.place == .none {
                    cursor.report("cannot read \(path): \(problem.message)", to: &problems)
                } else {
                    self.problems.append(LocatedProblem(source: path, problem: problem))
                }
            }
            return
        }
        if SettingsLoss.isEmpty(node) { return emptyNames.append(path) }
        let keys = ["rules"] + Self.keys
        guard SettingsCursor(node).mapping(of: keys, problems: &problems) != nil, case .mapping(let entries) = node.value else {
            return
        }
        let rest = read(entries, in: Self.folder(of: path), depth: depth + 1, problems: &problems)
        let includesFiles = entries.contains { $0.key == "include" && !SettingsCursor($0.value).isNull }
        guard let own = rest.first(where: { $0.key == "rules" }).map({ SettingsCursor($0.value, path: "rules") }), !own.isNull
        else {
            if !includesFiles { emptyNames.append(path) }
            return
        }
        let nodes = (own.list(problems: &problems) ?? []).map(\.node)
        if nodes.isEmpty, !includesFiles { emptyNames.append(path) }
        rules += nodes
    }

    private static func folder(of path: String) -> String { URL(filePath: path).deletingLastPathComponent().path }

    private static func identity(of path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }
}
