import Testing

@Suite("The paths of a learned policy")
struct LearnedPathTests {
    @Test(
        "Versions and digests become stars, and names of projects stay",
        arguments: [
            (["/simple/six/"], ["/simple/six/"]),
            (
                ["/packages/71/39/171f1c67cd00715f190ba0b100d606d440a28c93c7714febeca8b79af86e/six-1.16.0.tar.gz"],
                ["/packages/*/*/*/six-1.*.tar.gz"]
            ),
            (["/a/six-1.16.0-py2.py3-none-any.whl.metadata"], ["/a/six-1.*.whl.metadata"]),
            (["/lodash/-/lodash-4.17.21.tgz"], ["/lodash/-/lodash-4.*.tgz"]),
            (["/@types%2fnode"], ["/@types/node"]),
            (["/api/v1/crates/serde/1.0.200/download"], ["/api/v1/crates/serde/*/download"]),
            (
                ["/rsc.io/quote/@v/v1.5.2.info", "/rsc.io/quote/@v/v1.5.2.mod", "/rsc.io/quote/@v/list"],
                ["/rsc.io/quote/@v/list", "/rsc.io/quote/@v/v*.info", "/rsc.io/quote/@v/v*.mod"]
            ),
            (["/x/text/@v/v0.0.0-20170915032832-14c0d48ead0c.zip"], ["/x/text/@v/v*.zip"]),
            (["/debian/pool/main/h/hello/hello_2.10-3_amd64.deb"], ["/debian/pool/main/h/hello/hello_2.*.deb"]),
            (["/pool/main/v/vim/vim_2%3a9.0.1378-2_amd64.deb"], ["\"/pool/main/v/vim/vim_2:*.deb\""]),
            (
                ["/v2/library/busybox/blobs/sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
                ["\"/v2/library/busybox/blobs/sha256:*\""]
            ),
            (["/literal/*/*", "/literal/**"], ["/literal/%2A%2A", "/literal/%2A/%2A"]),
            (["/team/app.git/objects/4b/825dc642cb6eb9a060e54bf8d69288fbee4904"], ["/team/app.git/objects/*/*"]),
            (
                ["/debian/dists/trixie/main/by-hash/SHA256/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
                ["/debian/dists/trixie/main/by-hash/SHA256/*"]
            ),
            (["/jquery/3.7.1/9f86d081884c7d659a2feaa0c55ad015.js"], ["/jquery/*/*.js"]),
        ])
    func replacesVersions(paths: [String], patterns: [String]) throws {
        let stage = try LearnedStage(paths.map { "GET https://h.example\($0)" })
        #expect(stage.paths == patterns, "\(stage.text)")
    }

    @Test("A digest without a project's name beside it stays, because a star would match every project of the host")
    func keepsNamelessDigests() throws {
        let digest = "/files/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
        let stage = try LearnedStage(["GET https://h.example\(digest)", "GET https://h.example/api/v4/projects/278964/packages"])
        #expect(stage.paths == ["/api/v4/projects/278964/packages", digest])
    }

    @Test(
        "A digest stays where no project is named beside it, whatever words the path has",
        arguments: [
            "/registry-v2/docker/registry/v2/blobs/sha256/ab/DIGEST/data", "/artifactory/generic/DIGEST",
            "/nexus/content/DIGEST.jar", "/v2/blobs/sha256:DIGEST", "/mirror-eu/DIGEST", "/team/app/objects/DIGEST",
            "/dists/by-hash/SHA256/DIGEST",
        ])
    func keepsDigests(path: String) throws {
        let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
        let stage = try LearnedStage(["GET https://h.example\(path.replacing("DIGEST", with: digest))"])
        #expect(try stage.allows("GET https://h.example\(path.replacing("DIGEST", with: digest))"))
        #expect(!stage.paths.contains { $0.contains("*") }, "\(stage.paths)")
    }

    @Test("The word before a number is no project: all customers are not one project")
    func keepsCollections() throws {
        for paths in [(1...4).map { "/customers/\($0)" }, (1...4).map { "/customers/\($0)/orders" }] {
            let stage = try LearnedStage(paths.map { "GET https://h.example\($0)" })
            #expect(stage.paths == paths)
        }
        let one = try LearnedStage((1...4).map { "GET https://h.example/customers/7/orders/\($0)" })
        #expect(one.paths == ["/customers/7/orders/*"])
    }

    @Test("Numbers become a star when three of them were requested at one place")
    func joinsNumbers() throws {
        let two = try LearnedStage((1...2).map { "GET https://h.example/shop/orders/\($0)/lines" })
        #expect(two.paths == ["/shop/orders/1/lines", "/shop/orders/2/lines"])
        let three = try LearnedStage((1...3).map { "GET https://h.example/shop/orders/\($0)/lines" })
        #expect(three.paths == ["/shop/orders/*/lines"])
    }

    @Test("Many files below one release become its tree; files of other projects below it do not")
    func joinsReleases() throws {
        let files = ["a.js", "b/c.js", "b/d.css", "e.woff"]
        let tree = try LearnedStage(files.map { "GET https://h.example/ajax/libs/jquery/3.7.1/\($0)" })
        #expect(tree.paths == ["/ajax/libs/jquery/*/**"])
        #expect(try !tree.allows("GET https://h.example/ajax/libs/react/3.7.1/a.js"))
        let written = try LearnedStage(files.map { "PUT https://h.example/ajax/libs/jquery/3.7.1/\($0)" })
        #expect(written.paths.count == 4)
        let system = try LearnedStage(
            ["bash-5.2.rpm", "zlib-1.3.rpm", "vim-9.0.rpm", "perl-5.36.rpm"].map {
                "GET https://h.example/fedoralinux/39.1/os/\($0)"
            })
        #expect(system.paths.count == 4 && !system.paths.contains { $0.contains("**") })
    }

    @Test("A secret in a path becomes a star, and appears nowhere")
    func hidesSecrets() throws {
        let stage = try LearnedStage(["GET https://h.example/hooks/{secret}/send?token=topsecret"])
        #expect(stage.paths == ["/hooks/*/send"])
        #expect(!stage.text.contains("topsecret") && !stage.text.contains("token"))
    }

    @Test("A path that is longer than a pattern may be is cut, and the file says so")
    func cutsLongPaths() throws {
        let path = "/project/" + String(repeating: "abcdefgh/", count: 100)
        let stage = try LearnedStage(["GET https://h.example\(path)"])
        #expect(try stage.allows("GET https://h.example\(path)"))
        #expect(stage.text.contains("# Note: a path was too long for a rule"))
    }

    @Test("A path that can be read in several ways is allowed in each of them")
    func allowsReadings() throws {
        for path in [
            "/a;v=1/b", "/a//b", "/a/./b", "/a/%2e/b", "/@scope%2fname", "/a%20b", "/a%252fb", "/x/*/y", "/caf%c3%a9",
        ] {
            let stage = try LearnedStage(["GET https://h.example\(path)"])
            #expect(try stage.allows("GET https://h.example\(path)"), "\(path): \(stage.text)")
        }
    }
}
