import HTTPMessage
import TextCoding

/// Translates the access rules of a squid.conf into settings that allow no request which squid denies.
///
/// Squid uses the first line that matches; in Larder a rule that denies always wins. A line that allows, and that no rule can express, is
/// left out. Of a line that denies, the words that no rule can express are left out, so that Larder denies more. If no word is left, no later
/// line allows anything. All of these lines are listed.
package struct SquidImport: Sendable {
    /// A line that is not expressed, or not exactly.
    package struct Remark: Equatable, Sendable {
        package let line: Int
        package let text: String
    }

    /// The settings, as YAML.
    package let settings: String
    /// In the order of the file.
    package let remarks: [Remark]

    package init(_ text: String) {
        let directives = SquidDirective.all(in: text)
        var access = SquidAccess(SquidLists(directives))
        for directive in directives { access.read(directive) }
        let written = SquidSettings(access)
        settings = written.text
        let all = (access.remarks + written.remarks).enumerated().sorted {
            ($0.element.line, $0.offset) < ($1.element.line, $1.offset)
        }
        remarks = all.map(\.element)
    }
}

/// The ACLs of a squid.conf. Lines of one name add up to one list, which also holds for lines before the last of them.
struct SquidLists {
    private var lists = SquidACL.predefined
    private(set) var remarks: [SquidImport.Remark] = []

    init(_ directives: [SquidDirective]) {
        var spoiled: Set<String> = []
        var depth = 0
        for directive in directives where !directive.isCut {
            depth += directive.conditionDepth
            let words = directive.words
            guard words[0] == "acl", words.count >= 3 else { continue }
            // Squid ignores this line of old files.
            let name = words[1].lowercased()
            if name == "manager", words[2] == "proto" { continue }
            let reason = depth > 0 ? "its line is within `if`" : nil
            if let text = add(words, to: name, spoiledBy: reason) { note(directive, "acl \(words[1]): \(text)") }
            if let fault = lists[name]?.fault, spoiled.insert(name).inserted { note(directive, "acl \(words[1]): \(fault)") }
        }
    }

    /// Names are the same in any case.
    subscript(name: String) -> SquidACL? { lists[name.lowercased()] }

    private mutating func add(_ words: [String], to name: String, spoiledBy reason: String?) -> String? {
        if let reason {
            lists[name, default: SquidACL(type: words[2])].spoil(reason)
            return nil
        }
        if let known = lists[name], known.type != words[2] {
            lists[name]?.spoil("its lines have different types")
            return nil
        }
        return lists[name, default: SquidACL(type: words[2])].add(Array(words.dropFirst(3)))
    }

    private mutating func note(_ directive: SquidDirective, _ text: String) {
        remarks.append(SquidImport.Remark(line: directive.line, text: text))
    }
}

extension SquidDirective {
    /// What the directive adds to the number of open `if`s.
    var conditionDepth: Int { words[0] == "if" ? 1 : words[0] == "endif" ? -1 : 0 }
}
