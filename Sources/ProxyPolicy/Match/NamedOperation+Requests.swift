// The requests of each operation, according to the document that defines its protocol.
//
// Rules that allow need a narrow table. An operation that only reads has no requests that write, and an operation that writes has only
// the requests that write. So a rule that denies `registry-push` does not deny a pull, and a rule that allows a push must name both
// operations.

extension NamedOperation {
    private static let reads = ["GET", "HEAD"]

    var requests: [Requests] {
        switch self {
        // gitprotocol-http(5), "Smart Clients" and "Smart Service". A push begins with a GET; a fetch has a POST. The dumb protocol,
        // which reads plain files of the repository's folder, is not in the table.
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
        // Source: OCI Distribution Specification 1.1, "Endpoints": end-1, 2, 3, 8 and 12.
        case .registryPull:
            [Requests(Self.reads, ["/v2/", "/v2/**/manifests/*", "/v2/**/blobs/*", "/v2/**/tags/list", "/v2/**/referrers/*"])]
        // Source: OCI Distribution Specification 1.1, "Endpoints": end-4 to 7, 11 and 13. DELETE also ends an upload (CNCF
        // Distribution, "Canceling an Upload"). DELETE of manifests and blobs is not part of a push.
        case .registryPush:
            [
                Requests(["GET", "POST", "PATCH", "PUT", "DELETE"], ["/v2/**/blobs/uploads/*"]),
                Requests(["PUT"], ["/v2/**/manifests/*"]),
            ]
        // Source: npm's REGISTRY-API.md, "GET /{package}", and the `dist.tarball` of registry.npmjs.org. The POST of an audit is not in
        // the table: it sends the names of all installed packages, and an installation succeeds without it.
        case .npmInstall:
            [Requests(Self.reads, ["/*", "/@*/*", "/*/-/*.tgz", "/@*/*/-/*.tgz"])]
        // Source: libnpmpublish, `publish`. One PUT has the package, its metadata and its attachments.
        case .npmPublish:
            [Requests(["PUT"], ["/*", "/@*/*"])]
        // Source: The Simple Repository API (PEP 503, PEP 658) of the Python Packaging User Guide. The table recognizes wheels and
        // source distributions by their file names.
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
        // Source: Debian's RepositoryFormat, for the folders dists and pool, and "Flat Repository Format".
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
        // Source: The Cargo Book, "Registry Index": "Index files" (crate names of one letter, of two letters, and all others) and `dl`.
        case .cargo:
            [Requests(Self.reads, ["/config.json", "/1/*", "/2/*", "/*/*/*", "/**/*/*/download", "/**/*.crate"])]
        // Source: Go Modules Reference, "GOPROXY protocol" and "Checksum database". A proxy may serve the checksum database too, below
        // `/sumdb/`.
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
        // Source: Apache Maven, "Repository Layout". The table has artifacts by their file types, with checksums and signatures
        // (`.sha1`, `.asc`).
        case .maven:
            [
                Requests(
                    Self.reads,
                    ["maven-metadata.xml", "*.pom", "*.module", "*.jar", "*.war", "*.aar", "*.klib", "*.zip", "*.tar.gz"]
                        .flatMap { ["/**/\($0)", "/**/\($0).*"] })
            ]
        // The safe methods of RFC 9110 §9.2.1, without OPTIONS and TRACE, which no download needs.
        case .readOnly: [Requests(Self.reads)]
        }
    }
}
