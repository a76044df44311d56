/// The layouts of URLs that show to which project a digest belongs. In any other path a star in place of the digest would match the files
/// of all projects of the host.
enum ProjectLayout {
    static func namesProject(ofDigestAt place: Int, in segments: [SegmentForm]) -> Bool {
        // The name of the file shows the project: `/packages/71/39/171f…/six-1.16.0.tar.gz`.
        if segments.contains(where: { $0.kind == .namedVersion }) { return true }
        let before = segments[..<place]
        return isOfRelease(before) || isOfGitRepository(before) || isOfImage(before) || isIndexOfSuite(before)
    }

    /// The path has a digest below a release: `/jquery/3.7.1/9f86….js`.
    private static func isOfRelease(_ before: ArraySlice<SegmentForm>) -> Bool {
        zip(before, before.dropFirst()).contains { $0.kind == .name && $1.kind == .version }
    }

    /// The path has a digest in a git repository, such as `/team/app.git/objects/4b/825d…`, or of an object of git-lfs.
    private static func isOfGitRepository(_ before: ArraySlice<SegmentForm>) -> Bool {
        guard let repository = before.firstIndex(where: { $0.text.utf8.count > 4 && $0.text.hasSuffix(".git") }) else {
            return false
        }
        return before[repository...].contains { $0.text == "objects" }
    }

    /// The path has a digest in a container registry: `/v2/library/busybox/blobs/sha256:9f86…`.
    private static func isOfImage(_ before: ArraySlice<SegmentForm>) -> Bool {
        guard before.first?.text == "v2", let last = before.last?.text, ["blobs", "manifests", "referrers"].contains(last) else {
            return false
        }
        return before.dropFirst().dropLast().contains { $0.kind == .name }
    }

    /// The path has a digest in a Debian archive: `/debian/dists/trixie/main/by-hash/SHA256/9f86…`.
    private static func isIndexOfSuite(_ before: ArraySlice<SegmentForm>) -> Bool {
        guard let folder = before.firstIndex(where: { $0.text == "dists" }), folder + 1 < before.endIndex else { return false }
        return before[folder + 1].kind == .name && before[(folder + 2)...].contains { $0.text == "by-hash" }
    }
}
