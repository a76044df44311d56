import Foundation
import TestSupport
import Testing

@Suite("larder farm key")
struct FarmKeyCommandTests {
    private struct Shown: Decodable, Equatable {
        struct Key: Decodable, Equatable {
            let id: String
            let state: String
        }
        struct Trusted: Decodable, Equatable {
            let id: String
            let label: String
        }
        let farm: String
        let farmKeys: [Key]
        let signingKeys: [Key]
        let trustedKeys: [Trusted]
        let revokedKeys: [String]
    }

    /// Runs `larder farm key …` for the keys in this folder.
    private func key(_ words: String, in folder: TemporaryFolder, exits code: Int32 = 0) throws -> CommandLineTests.Outcome {
        let arguments = ["farm", "key"] + words.split(separator: " ").map(String.init) + ["--folder", "\(folder.path)/farm"]
        let outcome = try CommandLineTests.larder(arguments)
        #expect(outcome.code == code, "\(words): \(outcome.output)\(outcome.talk)")
        return outcome
    }

    private func shown(in folder: TemporaryFolder) throws -> Shown {
        let outcome = try key("show -o json", in: folder)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Shown.self, from: Data(outcome.output.utf8))
    }

    private func mode(_ name: String, in folder: TemporaryFolder) throws -> Int {
        let facts = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/farm/\(name)")
        return try #require(facts[.posixPermissions] as? Int)
    }

    private func text(_ name: String, in folder: TemporaryFolder) throws -> String {
        try String(contentsOfFile: "\(folder.path)/farm/\(name)", encoding: .utf8)
    }

    @Test("Keys are created once, with secrets for their owner alone, and no command prints a secret")
    func new() throws {
        let folder = try TemporaryFolder()
        let made = try key("new --label builder-1", in: folder)
        #expect(try ["farm.key", "signing.key", "trusted.keys"].map { try mode($0, in: folder) } == [0o600, 0o600, 0o644])
        let keys = try shown(in: folder)
        #expect(keys.farmKeys.map(\.state) == ["current"])
        #expect(keys.signingKeys.map(\.state) == ["current"])
        #expect(keys.trustedKeys == [Shown.Trusted(id: keys.signingKeys[0].id, label: "builder-1")])
        #expect(made.output == "\(keys.signingKeys[0].id)\n")
        let before = try text("farm.key", in: folder)
        #expect(try key("new", in: folder, exits: 1).talk.contains("farm.key exists already"))
        #expect(try text("farm.key", in: folder) == before)
        let printed = made.output + made.talk + (try key("show", in: folder).output)
        for name in ["farm.key", "signing.key"] {
            let words = try text(name, in: folder).split { $0 == " " || $0 == "\n" }
            let secrets = words.indices.filter { words[$0] == "key" }.map { words[$0 + 1] }
            #expect(secrets.count >= 1)
            for secret in secrets where secret.count > 40 { #expect(!printed.contains(secret)) }
        }
    }

    @Test("A further node gets a signing key of its own, which the list of the farm trusts")
    func signingOnly() throws {
        let first = try TemporaryFolder()
        let second = try TemporaryFolder()
        _ = try key("new --label one", in: first)
        #expect(try key("new --signing-only --label two", in: second, exits: 1).talk.contains("copy it from another node"))
        for name in ["farm.key", "trusted.keys"] {
            try FileManager.default.copyItem(atPath: "\(first.path)/farm/\(name)", toPath: "\(second.path)/farm/\(name)")
        }
        _ = try key("new --signing-only --label two", in: second)
        let keys = try shown(in: second)
        #expect(try keys.farm == shown(in: first).farm)
        #expect(keys.trustedKeys.map(\.label) == ["one", "two"])
        #expect(keys.signingKeys.map(\.id) == [keys.trustedKeys[1].id])
    }

    @Test("A rotation keeps the current keys until its time, and revoking a stolen key needs a successor")
    func rotation() throws {
        let folder = try TemporaryFolder()
        _ = try key("new --label one", in: folder)
        let first = try shown(in: folder)
        _ = try key("rotate farm --from 2099-01-31T06:00:00Z", in: folder)
        _ = try key("rotate signing", in: folder)
        var keys = try shown(in: folder)
        #expect(keys.farm == first.farm)
        #expect(keys.farmKeys.map(\.state) == ["current", "next"])
        #expect(keys.farmKeys[0] == first.farmKeys[0])
        #expect(keys.signingKeys.map(\.state) == ["current", "next"])
        #expect(keys.trustedKeys.map(\.label) == ["one", "one"])
        #expect(try mode("farm.key", in: folder) == 0o600)

        let stolen = first.signingKeys[0].id
        #expect(try key("revoke \(stolen)", in: folder, exits: 1).talk.contains("rotate signing --from now"))
        _ = try key("rotate signing --from now", in: folder)
        #expect(try key("revoke \(stolen)", in: folder).output == "revoked \(stolen)\n")
        keys = try shown(in: folder)
        #expect(keys.revokedKeys == [stolen])
        #expect(!keys.trustedKeys.contains { $0.id == stolen } && !keys.signingKeys.contains { $0.id == stolen })
        #expect(try key("revoke \(stolen)", in: folder, exits: 1).talk.contains("is revoked already"))

        let farmKey = first.farmKeys[0].id
        #expect(try key("revoke \(farmKey)", in: folder, exits: 1).talk.contains("rotate farm --from now"))
        _ = try key("rotate farm --from now", in: folder)
        _ = try key("revoke \(farmKey)", in: folder)
        #expect(try !shown(in: folder).farmKeys.contains { $0.id == farmKey })
    }

    @Test("Wrong usage exits with 2, and an unusable file with 1 and its reason")
    func mistakes() throws {
        let folder = try TemporaryFolder()
        #expect(try key("show", in: folder, exits: 1).talk.contains("farm.key: No such file or directory"))
        _ = try key("new", in: folder)
        for words in [
            "rotate", "rotate all", "rotate farm --from yesterday", "rotate farm --from 2001-01-01T00:00:00Z",
            "rotate farm --label a", "new --label a/b", "revoke", "revoke xyz",
        ] {
            _ = try key(words, in: folder, exits: 2)
        }
        #expect(chmod("\(folder.path)/farm/farm.key", 0o644) == 0)
        for words in ["show", "rotate farm", "revoke 0011223344556677"] {
            #expect(try key(words, in: folder, exits: 1).talk.contains("other users can access the file"))
        }
    }
}
