// The requests of each operation, according to the document that defines its protocol.
//
// A table for rules that allow is narrow: an operation that only reads has no request that writes, and one that writes has only the
// requests that write. So a rule that denies `registry-push` does not deny a pull, and a rule that allows a push names both operations.

extension NamedOperation {
    private static let reads = ["GET", "HEAD"]

    var requests: [Requests] {
        switch self {
        // gitprotocol-http(5), "Smart Clients" and "Smart Service". A push begins with a GET; a fetch has a POST. The dumb protocol reads
        // plain files of the repository's folder, and is not in the table.
        case .gitFetch:
            [
                Requests(["GET"], ["/**/info/refs"], query: ["service": "git-upload-pack"]),
                Requests(["POST"], ["/**/git-upload-pack"]),
            ]
        case .gitPush:
            [
                Requests(["GET"], ["/**/info/refs"], query: ["service": "git-receive-pack"]),
                Requests(["POST"], ["/**/git-receive-pack"]),
            ]
        // OCI Distribution Specification 1.1, "Endpoints": end-1, 2, 3, 8 and 12.
        case .registryPull:
            [Requests(Self.reads, ["/v2/", "/v2/**/manifests/*", "/v2/**/blobs/*", "/v2/**/tags/list", "/v2/**/referrers/*"])]
        // OCI Distribution Specification 1.1, "Endpoints": end-4 to 7, 11 and 13. DELETE ends an upload (CNCF Distribution, "Canceling an
        // Upload"); DELETE of manifests and blobs is not part of a push.
        case .registryPush:
            [
                Requests(["GET", "POST", "PATCH", "PUT", "DELETE"], ["/v2/**/blobs/uploads/*"]),
                Requests(["PUT"], ["/v2/**/manifests/*"]),
            ]
        // npm's REGISTRY-API.md, "GET /{package}", and the `dist.tarball` of registry.npmjs.org. The POST of an audit is not in the table:
        // it sends the names of all installed packages, and an installation succeeds without it.
        case .npmInstall:
            [Requests(Self.reads, ["/*", "/@*/*", "/*/-/*.tgz", "/@*/*/-/*.tgz"])]
        // libnpmpublish, `publish`: the package, its metadata and its attachments are one PUT.
        case .npmPublish:
            [Requests(["PUT"], ["/*", "/@*/*"])]
        // The Simple Repository API (PEP 503, PEP 658) of the Python Packaging User Guide; wheels and source distributions by their names.
        case .pipInstall:
            [
                Requests(
                    Self.reads,
                    [
                        "/**/simple/*/", "/**/+simple/*/", "/**/*.whl", "/**/*.whl.metadata", "/**/*.tar.gz",
                        "/**/*.tar.gz.metadata",
                        "/**/*.zip",
                    ])
            ]
        // Debian's RepositoryFormat: dists and pool, and "Flat Repository Format".
        case .apt:
            [
                Requests(
                    Self.reads,
                    [
                        "/**/dists/**", "/**/pool/**", "/**/InRelease", "/**/Release", "/**/Release.gpg", "/**/Packages",
                        "/**/Packages.*",
                        "/**/Sources", "/**/Sources.*", "/**/by-hash/*/*", "/**/*.deb",
                    ])
            ]
        // The Cargo Book, "Registry Index": "Index files" (names of one and two letters, then all others) and `dl`.
        case .cargo:
            [Requests(Self.reads, ["/config.json", "/1/*", "/2/*", "/*/*/*", "/**/*/*/download", "/**/*.crate"])]
        // Go Modules Reference, "GOPROXY protocol" and "Checksum database", also by way of a proxy (`/sumdb/`).
        case .goModules:
            [
                Requests(
                    Self.reads,
                    [
                        "/**/@v/list", "/**/@v/*.info", "/**/@v/*.mod", "/**/@v/*.zip", "/**/@latest", "/latest", "/lookup/**",
                        "/tile/**",
                        "/sumdb/*/supported", "/sumdb/*/latest", "/sumdb/*/lookup/**", "/sumdb/*/tile/**",
                    ])
            ]
        // Apache Maven, "Repository Layout": artifacts by their types, with checksums and signatures (`.sha1`, `.asc`).
        case .maven:
            [
                Requests(
                    Self.reads,
                    ["maven-metadata.xml", "*.pom", "*.module", "*.jar", "*.war", "*.aar", "*.klib", "*.zip", "*.tar.gz"]
                        .flatMap { ["/**/\($0)", "/**/\($0).*"] })
            ]
        // RFC 9110 §9.2.1 without OPTIONS and TRACE, which no download needs.
        case .readOnly: [Requests(Self.reads)]
        }
    }
}
