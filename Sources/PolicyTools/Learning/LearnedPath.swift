import ProxyPolicy

/// A path pattern for a learned rule, and the requests from which it is learned.
struct LearnedPath: Equatable {
    let pattern: String
    var requests: Int
    /// One of the paths, without secrets, as an example.
    let example: String
    /// Whether the path is too long for a pattern. Then the pattern matches all paths with the same beginning.
    var isCut = false

    var hasStar: Bool { pattern.utf8.contains(UInt8(ascii: "*")) }

    /// - Parameters:
    ///   - observed: the forms of the paths, with the number of times that each was observed.
    ///   - joinsTrees: whether many paths below one release are replaced by `/**`. True only for methods that read.
    /// - Returns: the patterns in alphabetical order; each path matches one of them.
    static func patterns(of observed: [(form: PathForm, requests: Int)], joinsTrees: Bool) -> [LearnedPath] {
        var learned: [String: LearnedPath] = [:]
        let patterns = joiningReleases(joiningIDs(observed.map(\.form)), observed.map(\.form), if: joinsTrees)
        for (segments, (form, requests)) in zip(patterns, observed) {
            let (pattern, isCut) = cut("/" + segments.joined(separator: "/"))
            learned[pattern, default: LearnedPath(pattern: pattern, requests: 0, example: form.text, isCut: isCut)].requests +=
                requests
        }
        return withoutMatched(learned.values.sorted { $0.pattern < $1.pattern })
    }

    /// The patterns of the paths. If paths differ only in the ids in one segment, a star replaces these ids.
    private static func joiningIDs(_ forms: [PathForm]) -> [[String]] {
        var patterns = forms.map(\.patterns)
        var groups: [[String]: [Int]] = [:]
        for (number, form) in forms.enumerated() where form.segments.contains(where: { $0.kind == .id }) {
            let key = zip(form.segments, patterns[number]).map { $0.kind == .id ? "" : $1 }
            groups[key, default: []].append(number)
        }
        for members in groups.values {
            let segments = forms[members[0]].segments
            for place in segments.indices
            where segments[place].kind == .id && members.allSatisfy({ forms[$0].namesOwner(ofIDAt: place) }) {
                let values = Set(members.map { forms[$0].segments[place].text })
                guard values.count >= LearningLimits.siblings else { continue }
                for member in members { patterns[member][place] = "*" }
            }
        }
        return patterns
    }

    /// The patterns, with `/**` in place of many different paths below one release.
    private static func joiningReleases(_ patterns: [[String]], _ forms: [PathForm], if joins: Bool) -> [[String]] {
        guard joins else { return patterns }
        var below: [[String]: Set<[String]>] = [:]
        let depths = forms.map(\.releaseDepth)
        for (pattern, depth) in zip(patterns, depths) {
            if let depth { below[Array(pattern[..<depth]), default: []].insert(Array(pattern[depth...])) }
        }
        return zip(patterns, depths).map { pattern, depth in
            guard let depth, below[Array(pattern[..<depth])]!.count >= LearningLimits.tree else { return pattern }
            return pattern[..<depth] + ["**"]
        }
    }

    private static func cut(_ pattern: String) -> (pattern: String, isCut: Bool) {
        guard pattern.utf8.count > LearningLimits.patternLength else { return (pattern, false) }
        var kept = pattern.utf8.prefix(LearningLimits.patternLength)
        // Avoids cutting the pattern within an escape or after a star.
        if let percent = kept.suffix(2).firstIndex(of: UInt8(ascii: "%")) { kept = kept[..<percent] }
        while kept.last == UInt8(ascii: "*") { kept.removeLast() }
        return (String(kept)! + "**", true)
    }

    /// Removes paths that a pattern with a star also matches.
    private static func withoutMatched(_ paths: [LearnedPath]) -> [LearnedPath] {
        var wide = paths.filter(\.hasStar)
        let plain = paths.filter { !$0.hasStar }
        guard wide.count * plain.count <= LearningLimits.comparisons else { return paths }
        let matchers = wide.map { try? PathPattern($0.pattern) }
        let kept = plain.filter { path in
            let bytes = Array(path.pattern.utf8)
            guard let index = matchers.firstIndex(where: { $0?.matches(bytes.span) ?? false }) else { return true }
            wide[index].requests += path.requests
            return false
        }
        return (wide + kept).sorted { $0.pattern < $1.pattern }
    }
}
