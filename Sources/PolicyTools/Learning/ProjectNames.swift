import HTTPMessage

/// Distinguishes names of projects from words that many projects have in their URLs. A version becomes a star only in a path that
/// contains a project's name. Otherwise the pattern would match other projects of the host. For a digest, a name is not enough,
/// because no list of such words is complete: see `ProjectLayout`.
enum ProjectNames {
    static let lettersOfName = 2

    /// - Parameter segment: one segment of a path.
    static func isName(_ segment: [UInt8]) -> Bool {
        let lower = segment.map(ASCII.lowercased)
        let stem = lower.prefix { $0 != UInt8(ascii: ".") }
        guard stem.count(where: ASCII.isAlpha) >= lettersOfName else { return false }
        return !commonWords.contains(String(decoding: stem, as: UTF8.self))
    }

    private static let commonWords: Set<String> = Set(
        """
        api rest rpc graphql web www html json xml js css img images fonts lib libs doc docs help search query status health \
        simple package packages pkg pkgs pool main module modules crate crates gem gems npm pypi maven maven2 cargo debian ubuntu \
        alpine index indexes registry repository repositories repo repos mirror mirrors channel channels \
        file files blob blobs object objects pack packs data content contents resource resources item items attachment attachments \
        manifest manifests tag tags digest digests layer layers upload uploads download downloads get raw media avatars \
        dist dists release releases archive archives asset assets static public private storage store cache cdn tmp \
        artifact artifacts build builds job jobs generic stable latest current snapshot snapshots version versions list \
        project projects group groups user users org orgs team teams account accounts \
        git info refs heads commit commits tree trees branch branches config by-hash md5 md5sum sha1 sha256 sha384 sha512 \
        lookup tile tiles supported inrelease sources
        """.split(separator: " ").map(String.init))
}
