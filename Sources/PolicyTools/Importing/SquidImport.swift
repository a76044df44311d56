import HTTPMessage
import TextCoding

/// Translates the access rules of a squid.conf into settings that allow no request which squid denies.
///
/// Squid uses the first line that matches. In Larder, a rule that denies always takes precedence. If no rule can express a line that
/// allows, the import omits the line. If no rule can express a word of a line that denies, the import omits the word, so that Larder
/// denies more. If no word of such a line is left, no later line allows anything. The remarks list all these lines.
package struct SquidImport: Sendable {
    /// A remark about a line that the settings do not express, or do not express exactly.
    package struct Remark: Equatable, Sendable {
        package let line: Int
        package let text: String
    }

    /// The settings, as YAML.
    package let settings: String
    /// The remarks, in the order of the file.
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

/// The ACLs of a squid.conf. All lines with one name form one list. The whole list applies to every directive, even to directives
/// before the last of these lines.
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
            // This line occurs in old files. Squid ignores it, and so does the import.
            let name = words[1].lowercased()
            if name == "manager", words[2] == "proto" { continue }
            let reason = depth > 0 ? "the acl is defined within `if`" : nil
            if let text = add(words, to: name, spoiledBy: reason) { note(directive, "acl \(words[1]): \(text)") }
            if let fault = lists[name]?.fault, spoiled.insert(name).inserted { note(directive, "acl \(words[1]): \(fault)") }
        }
    }

    /// The names of ACLs are case-insensitive.
    subscript(name: String) -> SquidACL? { lists[name.lowercased()] }

    private mutating func add(_ words: [String], to name: String, spoiledBy reason: String?) -> String? {
        if let reason {
            lists[name, default: SquidACL(type: words[2])].spoil(reason)
            return nil
        }
        if let known = lists[name], known.type != words[2] {
            lists[name]?.spoil("the lines that define the acl have different types")
            return nil
        }
        return lists[name, default: SquidACL(type: words[2])].add(Array(words.dropFirst(3)))
    }

    private mutating func note(_ directive: SquidDirective, _ text: String) {
        remarks.append(SquidImport.Remark(line: directive.line, text: text))
    }
}

extension SquidDirective {
    /// By how much the directive changes the number of open `if` blocks.
    var conditionDepth: Int { words[0] == "if" ? 1 : words[0] == "endif" ? -1 : 0 }
}
