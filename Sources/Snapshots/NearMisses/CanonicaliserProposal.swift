import HTTPMessage
import HTTPSerialization
import SecretScanning

/// Proposes a canonicaliser that makes a request equal to a recording in spite of given differences, if that is possible.
struct CanonicaliserProposal {
    /// The proposal; `nil` if there are no differences, or if no canonicaliser can remove all of them.
    private(set) var canonicaliser: Canonicaliser?
    /// Whether the canonicaliser changes the path, which identifies the resource. A canonicaliser that changes only parameters or
    /// fields is less risky.
    var changesPath: Bool { canonicaliser?.replacements.isEmpty == false }

    /// - Parameters:
    ///   - recorded: the target URI of the recording.
    ///   - offered: the target URI of the request.
    init(for differences: [RequestDifference], recorded: [UInt8], offered: [UInt8]) {
        guard !differences.isEmpty else { return }
        let (old, uri) = (SplitURI(recorded), SplitURI(offered))
        var proposed = Canonicaliser(uri: String(decoding: uri.origin + uri.path, as: UTF8.self) + "*")
        for difference in differences {
            switch difference.place {
            case .parameter(let name): proposed.ignoredParameters.append(name)
            case .parameterOrder: proposed.sortsQuery = true
            case .field(let name): proposed.ignoredFields.append(name)
            case .formField(let name): proposed.ignoredFormFields.append(name)
            case .json(let pointer):
                guard let pointer = JSONPointer(pointer), !pointer.parts.isEmpty else { return }
                proposed.ignoredPointers.append(pointer)
            case .path:
                guard let segment = DifferentSegment(difference), let path = DifferentSegment.wildcard(old.path, uri.path)
                else { return }
                let hasQuery = !old.query.isEmpty || !uri.query.isEmpty
                let origin = String(decoding: uri.origin, as: UTF8.self)
                proposed.uri = origin + path + (hasQuery ? "*" : "")
                proposed.replacements += segment.replacements(behind: origin, hasQuery: hasQuery)
            case .method, .origin, .body, .secret: return
            }
        }
        canonicaliser = proposed
    }
}

/// The only segment in which two paths differ; `nil` unless it looks like an id in both paths.
private struct DifferentSegment {
    private let before: [Substring]
    private let after: [Substring]
    private let form: Form

    /// Patterns of ids. They do not match a word with a number, such as `users-1` or `v2`, which is a name.
    private enum Form: String, CaseIterable {
        case number = "[0-9]+"
        case uuid = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
        case hexadecimal = "[0-9A-Fa-f]{8,}"
        case generated = "[0-9A-Za-z_-]{16,}"

        func matches(_ text: Substring) -> Bool {
            let octets = Array(text.utf8)
            // A segment without digits is not an id, however long it is.
            guard octets.contains(where: ASCII.isDigit) else { return false }
            if self == .generated, octets.count(where: ASCII.isDigit) < 3 || octets.split(separator: UInt8(ascii: "-")).count > 3
            {
                return false
            }
            guard let pattern = try? LinearPattern("^\(rawValue)$") else { return false }  // each of these patterns is valid
            return pattern.ranges(in: octets) == [0..<octets.count]
        }
    }

    /// - Returns: `nil` unless the paths differ in exactly one segment, and that segment looks like an id in both paths.
    init?(_ difference: RequestDifference) {
        let recorded = difference.recorded?.split(separator: "/", omittingEmptySubsequences: false) ?? []
        let offered = difference.offered?.split(separator: "/", omittingEmptySubsequences: false) ?? []
        guard recorded.count == offered.count, let place = recorded.indices.first(where: { recorded[$0] != offered[$0] }),
            place > 0, recorded[(place + 1)...] == offered[(place + 1)...],
            let form = Form.allCases.first(where: { $0.matches(recorded[place]) && $0.matches(offered[place]) })
        else { return nil }
        before = Array(recorded[1..<place])
        after = Array(recorded[(place + 1)...])
        self.form = form
    }

    /// Both paths as sent, with a star in place of each segment that differs.
    static func wildcard(_ recorded: [UInt8], _ offered: [UInt8]) -> String? {
        let old = recorded.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let new = offered.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard old.count == new.count else { return nil }
        return zip(old, new).map { $0 == $1 ? String(decoding: $0, as: UTF8.self) : "*" }.joined(separator: "/")
    }

    /// Matches from the beginning of the URI to the end of its path, so that only this segment, and only in such paths, is replaced.
    func replacements(behind origin: String, hasQuery: Bool) -> [Canonicaliser.Replacement] {
        func path(_ segment: String, _ text: (Substring) -> String) -> String {
            (before.map(text) + [segment] + after.map(text)).map { "/" + $0 }.joined()
        }
        let pattern = "^" + Self.escaped(origin[...]) + path(form.rawValue, Self.escaped)
        let text = origin + path("{segment}") { String($0) }
        let whole = Canonicaliser.Replacement(.uri, pattern + "$", by: text)
        return hasQuery ? [whole, Canonicaliser.Replacement(.uri, pattern + "\\?", by: text + "?")] : [whole]
    }

    private static func escaped(_ text: Substring) -> String {
        text.map { "\\.+*?()[]{}|^$".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
