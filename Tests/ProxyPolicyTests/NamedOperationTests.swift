import ProxyPolicy
import Testing

@Suite("Operations in rules")
struct NamedOperationTests {
    private func verdict(_ match: String, _ line: String) throws -> Verdict {
        var matched = MatchedRules()
        return try ruleSet("[{name: n, match: \(match), allow: {}}]").under(EgressTerms(.deny)).match(
            try request(line), into: &matched)
    }

    private func denies(_ match: String, _ line: String) throws -> Bool {
        var matched = MatchedRules()
        return try ruleSet("[{name: n, match: \(match), deny: {}}]").match(try request(line), into: &matched) == .deny
    }

    struct Row: Sendable {
        let operation: String
        let allowed: [String]
        let others: [String]

        init(_ operation: String, _ allowed: [String], not others: [String]) {
            self.operation = operation
            self.allowed = allowed
            self.others = others
        }
    }

    @Test(
        "An operation allows its own requests and no others",
        arguments: [
            Row(
                "git-fetch",
                ["GET https://h/o/r.git/info/refs?service=git-upload-pack", "POST https://h/o/r.git/git-upload-pack"],
                not: [
                    "GET https://h/o/r.git/info/refs?service=git-receive-pack", "POST https://h/o/r.git/git-receive-pack",
                    "GET https://h/o/r.git/info/refs", "PUT https://h/o/r.git/git-upload-pack", "GET https://h/o/r.git/HEAD",
                    "POST https://h/o/r.git/info/refs?service=git-upload-pack", "GET https://h/o/r",
                    "POST https://h/o/r.git/info/lfs/objects/batch",
                ]),
            Row(
                "git-push",
                ["GET https://h/o/r.git/info/refs?service=git-receive-pack", "POST https://h/o/r.git/git-receive-pack"],
                not: ["GET https://h/o/r.git/info/refs?service=git-upload-pack", "POST https://h/o/r.git/git-upload-pack"]),
            Row(
                "registry-pull",
                [
                    "GET https://h/v2/", "GET https://h/v2/o/i/manifests/1.0", "HEAD https://h/v2/i/manifests/sha256:ab",
                    "GET https://h/v2/o/p/i/blobs/sha256:ab", "GET https://h/v2/i/tags/list?n=1",
                    "GET https://h/v2/i/referrers/sha256:ab",
                ],
                not: [
                    "POST https://h/v2/i/blobs/uploads/", "PUT https://h/v2/i/manifests/1", "DELETE https://h/v2/i/manifests/1",
                    "GET https://h/v2/i/blobs/uploads/1", "GET https://h/token?scope=x", "GET https://h/v1/i/manifests/1",
                ]),
            Row(
                "registry-push",
                [
                    "POST https://h/v2/o/i/blobs/uploads/", "PATCH https://h/v2/o/i/blobs/uploads/1?_state=x",
                    "PUT https://h/v2/i/blobs/uploads/1?digest=d", "GET https://h/v2/i/blobs/uploads/1",
                    "PUT https://h/v2/i/manifests/1",
                    "DELETE https://h/v2/i/blobs/uploads/1",
                ],
                not: [
                    "GET https://h/v2/", "GET https://h/v2/i/manifests/1", "DELETE https://h/v2/i/manifests/1",
                    "DELETE https://h/v2/i/blobs/sha256:ab", "PUT https://h/v2/i/blobs/sha256:ab",
                ]),
            Row(
                "npm-install",
                [
                    "GET https://h/lodash", "GET https://h/@a%2fb", "GET https://h/@a/b",
                    "GET https://h/lodash/-/lodash-1.0.0.tgz",
                    "GET https://h/@a/b/-/b-1.0.0.tgz",
                ],
                not: [
                    "PUT https://h/lodash", "PUT https://h/@a%2fb", "POST https://h/-/npm/v1/security/advisories/bulk",
                    "GET https://h/-/whoami", "GET https://h/-/npm/v1/tokens", "DELETE https://h/lodash/-rev/1",
                    "GET https://h/a/b/c",
                ]),
            Row(
                "npm-publish", ["PUT https://h/lodash", "PUT https://h/@a%2fb"],
                not: ["GET https://h/lodash", "PUT https://h/-/user/org.couchdb.user:a", "POST https://h/-/npm/v1/tokens"]),
            Row(
                "pip-install",
                [
                    "GET https://h/simple/requests/", "GET https://h/mirror/pypi/+simple/requests/",
                    "GET https://h/packages/ab/cd/requests-1.0-py3-none-any.whl",
                    "GET https://h/packages/ab/requests-1.0-py3-none-any.whl.metadata",
                    "GET https://h/packages/ab/requests-1.0.tar.gz",
                ],
                not: ["POST https://h/legacy/", "GET https://h/manage/account/", "POST https://h/simple/requests/"]),
            Row(
                "apt",
                [
                    "GET http://h/debian/dists/bookworm/InRelease",
                    "GET http://h/debian/pool/main/b/bash/bash_5.2-1%2bb1_amd64.deb",
                    "GET http://h/debian/dists/bookworm/main/binary-amd64/by-hash/SHA256/ab", "GET http://h/flat/./Packages.xz",
                    "HEAD http://h/flat/a_1.0_all.deb",
                ],
                not: ["PUT http://h/debian/pool/main/b/x.deb", "GET http://h/debian/", "GET http://h/debian/tools/x.exe"]),
            Row(
                "cargo",
                [
                    "GET https://h/config.json", "GET https://h/se/rd/serde", "GET https://h/3/r/ryu", "GET https://h/2/cc",
                    "GET https://h/crates/serde/1.0.0/download", "GET https://h/api/v1/crates/serde/1.0.0/download",
                    "GET https://h/crates/serde/serde-1.0.0.crate",
                ],
                not: [
                    "PUT https://h/api/v1/crates/new", "DELETE https://h/api/v1/crates/serde/1.0.0/yank", "GET https://h/me",
                    "GET https://h/api/v1/crates/serde/owners",
                ]),
            Row(
                "go-modules",
                [
                    "GET https://h/golang.org/x/text/@v/list", "GET https://h/golang.org/x/text/@v/v0.1.0.zip",
                    "GET https://h/github.com/!azure/x/@latest", "GET https://h/sumdb/sum.golang.org/tile/8/0/x001/2",
                    "GET https://h/lookup/golang.org/x/text@v0.1.0",
                ],
                not: ["POST https://h/golang.org/x/text/@v/list", "GET https://h/golang.org/x/text?go-get=1"]),
            Row(
                "maven",
                [
                    "GET https://h/maven2/org/a/b/1.0/b-1.0.pom", "GET https://h/maven2/org/a/b/1.0/b-1.0.jar.sha1",
                    "GET https://h/maven2/org/a/b/maven-metadata.xml", "HEAD https://h/maven2/org/a/b/1.0/b-1.0.jar.asc",
                ],
                not: ["PUT https://h/maven2/org/a/b/1.0/b-1.0.jar", "GET https://h/service/rest/v1/users"]),
            Row(
                "read-only", ["GET https://h/", "HEAD https://h/a/b?c"],
                not: ["POST https://h/", "OPTIONS https://h/", "TRACE https://h/", "QUERY https://h/", "CONNECT h:443"]),
        ])
    func table(row: Row) throws {
        let match = "{host: h, operation: \(row.operation)}"
        for line in row.allowed {
            #expect(try verdict(match, line).isAllowed, "\(line)")
            #expect(try denies(match, line), "\(line)")
        }
        for line in row.others where !line.hasPrefix("CONNECT") {
            #expect(try verdict(match, line) == .unlisted, "\(line)")
            #expect(try !denies(match, line), "\(line)")
        }
    }

    @Test(
        "A fetch whose service may be read as a push is not allowed, and a rule that denies pushes denies it",
        arguments: [
            "service=git-upload-pack&service=git-receive-pack", "service=git-receive-pack&service=git-upload-pack",
            "service=git%2dreceive-pack&service=git-upload-pack", "s%65rvice=git-receive-pack", "service=git%2Dreceive%2Dpack",
        ])
    func seesEveryService(query: String) throws {
        let line = "GET https://h/r.git/info/refs?\(query)"
        #expect(try !verdict("{host: h, operation: git-fetch}", line).isAllowed)
        #expect(try denies("{host: h, operation: git-push}", line))
    }

    @Test("An operation restricts a rule in addition to path, and every reading of the path must be one of its paths")
    func restrictsBesidePath() throws {
        let match = "{host: h, path: /o/r.git/**, operation: git-fetch}"
        #expect(try verdict(match, "POST https://h/o/r.git/git-upload-pack").isAllowed)
        #expect(try verdict(match, "POST https://h/o/r%2egit/git-upload-pack").isAllowed)
        #expect(try verdict(match, "POST https://h/o/other.git/git-upload-pack") == .unlisted)
        #expect(try verdict(match, "POST https://h/o/r.git/git-receive-pack") == .unlisted)
        #expect(try verdict(match, "POST https://h/o/r.git/git-upload-pack;x") == .ambiguousPath)
        #expect(try verdict(match, "POST https://h/o/r.git/x/../../other.git/git-upload-pack") == .ambiguousPath)
        #expect(try denies("{host: h, operation: git-push}", "POST https://h/o/r.git/x/../git-receive%2dpack"))
    }

    @Test("Of several operations one is enough, and a method restricts further")
    func severalOperations() throws {
        let match = "{host: h, operation: [git-fetch, git-push], method: POST}"
        #expect(try verdict(match, "POST https://h/r.git/git-upload-pack").isAllowed)
        #expect(try verdict(match, "POST https://h/r.git/git-receive-pack").isAllowed)
        #expect(try verdict(match, "GET https://h/r.git/info/refs?service=git-upload-pack") == .unlisted)
    }

    @Test("Requests that an operation excludes are not allowed in any reading")
    func excludes() throws {
        let match = "{host: h, not: {operation: git-push}}"
        #expect(try verdict(match, "GET https://h/r.git/info/refs?service=git-upload-pack").isAllowed)
        #expect(try verdict(match, "POST https://h/other").isAllowed)
        #expect(try !verdict(match, "GET https://h/r.git/info/refs?service=git%2dreceive-pack").isAllowed)
        #expect(try !verdict(match, "POST https://h/r.git/git-receive-pack;x").isAllowed)
    }

    @Test("The paths of a package registry begin at the root, or below the folder that the rule's path names")
    func belowFolder() throws {
        let match = "{host: h, path: /npm/**, operation: npm-install}"
        #expect(try verdict(match, "GET https://h/npm/lodash").isAllowed)
        #expect(try verdict(match, "GET https://h/npm/@a%2fb").isAllowed)
        #expect(try verdict(match, "GET https://h/npm/lodash/-/lodash-1.0.0.tgz").isAllowed)
        #expect(try verdict(match, "GET https://h/npm/-/npm/v1/tokens") == .unlisted)
        #expect(try verdict(match, "GET https://h/lodash") == .unlisted)
        #expect(try verdict("{host: h, path: /x/*/npm/**, operation: npm-install}", "GET https://h/x/y/npm/lodash").isAllowed)
        #expect(try verdict("{host: h, path: /**/**, operation: npm-install}", "GET https://h/a/b/c") == .unlisted)
    }

    @Test("A rule with an operation allows no tunnel, but a request inside it")
    func needsInterception() throws {
        guard case .allow(let obligations) = try verdict("{host: h, operation: read-only}", "CONNECT h:443") else {
            return #expect(Bool(false))
        }
        #expect(obligations.tunnel == .inspectedOnly)
        #expect(try problems("[{name: n, match: {operation: apt}, allow: {}, tunnel: any}]").count == 1)
    }

    @Test(
        "An unknown operation is an error that suggests the nearest name",
        arguments: [
            ("git-fech", "git-fetch"), ("git-pull", "git-fetch"), ("git-clone", "git-fetch"), ("git_push", "git-push"),
            ("docker-pull", "registry-pull"), ("npm-instal", "npm-install"), ("pip", "pip-install"), ("readonly", "read-only"),
            ("go-module", "go-modules"), ("mvn", "maven"),
        ])
    func namesNearest(written: String, meant: String) throws {
        let message = try problems("[{name: n, match: {operation: \(written)}, allow: {}}]")
        #expect(message.count == 1)
        #expect(message.first?.hasPrefix("f:1:31: rules[0].match.operation: expected one of git-fetch, git-push, ") == true)
        #expect(message.first?.hasSuffix("found `\(written)`; did you mean `\(meant)`?") == true)
    }
}
