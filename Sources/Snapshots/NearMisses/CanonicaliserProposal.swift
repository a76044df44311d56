import HTTPMessage
import HTTPSerialization

/// The canonicaliser that takes differences away, where one can.
struct CanonicaliserProposal {
    /// `nil` where there is nothing that it could take away, or something that it could not.
    private(set) var canonicaliser: Canonicaliser?

    /// - Parameters:
    ///   - recorded: the target of the recording.
    ///   - offered: that of the request.
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

/// The one segment in which two paths differ.
private struct DifferentSegment {
    private let before: [Substring]
    private let after: [Substring]
    private let isNumber: Bool

    /// - Returns: `nil` for paths that differ otherwise, and where nothing but the segment would tell what is meant.
    init?(_ difference: RequestDifference) {
        let recorded = difference.recorded?.split(separator: "/", omittingEmptySubsequences: false) ?? []
        let offered = difference.offered?.split(separator: "/", omittingEmptySubsequences: false) ?? []
        guard recorded.count == offered.count, let place = recorded.indices.first(where: { recorded[$0] != offered[$0] }),
            place > 0, recorded[(place + 1)...] == offered[(place + 1)...], !recorded[place].isEmpty, !offered[place].isEmpty
        else { return nil }
        before = Array(recorded[1..<place])
        after = Array(recorded[(place + 1)...])
        isNumber = (recorded[place] + offered[place]).utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber || (before + after).contains(where: { !$0.isEmpty }) else { return nil }
    }

    /// Both paths as they were sent, with a star for what differs.
    static func wildcard(_ recorded: [UInt8], _ offered: [UInt8]) -> String? {
        let old = recorded.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let new = offered.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard old.count == new.count else { return nil }
        return zip(old, new).map { $0 == $1 ? String(decoding: $0, as: UTF8.self) : "*" }.joined(separator: "/")
    }

    /// From the beginning of the URI to the end of its path, so that only this segment of only such paths is made equal.
    func replacements(behind origin: String, hasQuery: Bool) -> [Canonicaliser.Replacement] {
        func path(_ segment: String, _ text: (Substring) -> String) -> String {
            (before.map(text) + [segment] + after.map(text)).map { "/" + $0 }.joined()
        }
        let pattern = "^" + Self.escaped(origin[...]) + path(isNumber ? "[0-9]+" : "[^/?]+", Self.escaped)
        let text = origin + path("{segment}") { String($0) }
        let whole = Canonicaliser.Replacement(.uri, pattern + "$", by: text)
        return hasQuery ? [whole, Canonicaliser.Replacement(.uri, pattern + "\\?", by: text + "?")] : [whole]
    }

    private static func escaped(_ text: Substring) -> String {
        text.map { "\\.+*?()[]{}|^$".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
