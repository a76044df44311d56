import HTTPMessage
import ProxyPolicy

/// A path that is split into segments. A pattern is made from it.
struct PathForm {
    private(set) var segments: [SegmentForm]

    /// - Parameter path: one reading of a path, as bytes.
    init(_ path: [UInt8]) {
        segments = Self.visible(path).split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
            SegmentForm(String($0))
        }
    }

    /// The readings of a path that a rule must allow; `nil` if the path has too many.
    static func readings(of path: String) -> [PathForm]? {
        guard let texts = PathReadings.texts(of: Array(path.utf8)), texts.count <= LearningLimits.readings else { return nil }
        return texts.map(PathForm.init)
    }

    /// Percent-encodes the bytes that a pattern cannot contain. Larder decodes both the pattern and the path before it compares them.
    private static func visible(_ path: [UInt8]) -> String {
        var text: [UInt8] = []
        for byte in path {
            let isInvisible = byte <= ASCII.space || byte >= 0x7F
            if isInvisible || byte == ASCII.question || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "%")
                || byte == UInt8(ascii: "*")
            {
                PercentEncoding.append(encoded: byte, into: &text)
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether the path contains a project's name. If so, a star in place of a version matches no other project.
    private var hasName: Bool { segments.contains { $0.kind == .name || $0.kind == .namedVersion } }

    /// Whether the path names the owner of the id at this index. The word directly before an id is only the kind of the id, such as
    /// `users`.
    func namesOwner(ofIDAt place: Int) -> Bool {
        segments[..<place].enumerated().contains { index, segment in
            segment.kind == .namedVersion || segment.kind == .name && index + 1 < place
        }
    }

    var text: String { "/" + segments.map { $0.kind == .secret ? $0.pattern : $0.text }.joined(separator: "/") }

    /// The patterns of the segments. A version becomes a star if the path contains a project's name. A digest becomes a star only where
    /// the layout of the path shows to which project the digest belongs. An id does not become a star.
    var patterns: [String] {
        let allowsVersions = hasName
        var isStarred = segments.indices.map { index in
            switch segments[index].kind {
            case .secret, .namedVersion: true
            case .version: allowsVersions
            case .digest: ProjectLayout.namesProject(ofDigestAt: index, in: segments)
            case .word, .name, .pair, .id: false
            }
        }
        var patterns = segments.indices.map { isStarred[$0] ? segments[$0].pattern : segments[$0].text }
        // The first digits of a digest often form segments of their own.
        for index in segments.indices.dropLast().reversed() where segments[index].mayBeginDigest {
            let next = segments[index + 1]
            guard isStarred[index + 1], next.kind == .digest || next.mayBeginDigest else { continue }
            patterns[index] = "*"
            isStarred[index] = true
        }
        return patterns
    }

    /// The number of segments up to and including a version that follows a project's name. The paths below that version are the files
    /// of one release. `nil` if there is no such version, or if paths below the version belong to other projects.
    var releaseDepth: Int? {
        guard
            let version = segments.indices.dropFirst().first(where: {
                segments[$0].kind == .version && segments[$0 - 1].kind == .name
            }), version + 1 < segments.count
        else { return nil }
        let name = segments[version - 1].text
        let areOfProject = segments[(version + 1)...].allSatisfy { $0.kind != .namedVersion || $0.text.hasPrefix(name) }
        return areOfProject ? version + 1 : nil
    }
}
