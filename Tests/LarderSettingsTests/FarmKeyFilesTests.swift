import Foundation
import HTTPMessage
import SignedEntries
import TestSupport
import Testing

@testable import LarderSettings

@Suite("The key files of a farm")
struct FarmKeyFilesTests {
    private let start = Timestamp(seconds: 1_795_000_000)

    /// Writes the three files, with one signing key, and returns their paths.
    private func written(in folder: TemporaryFolder, revoked: Bool = false, isTrusted: Bool = true) throws -> FarmKeyPaths {
        let key = try #require(EntrySigningKey.new(start: start))
        let signer = TrustedSigners.Signer(publicKey: key.publicKey, label: "")
        let trusted = TrustedSigners(isTrusted ? [signer] : [], revoked: revoked ? [key.id] : [])
        let signing = try #require(EntrySigningKeys([key]))
        let farm = try #require(FarmKeys(farm: FarmID(), keys: [FarmKey.new(start: start)]))
        let paths = FarmKeyPaths(folder: folder.path)
        let texts = [
            (paths.farm, KeyFiles.text(farm)), (paths.trusted, KeyFiles.text(trusted)),
            (try #require(paths.signing), try #require(KeyFiles.text(signing))),
        ]
        for (path, text) in texts {
            try Data(text.utf8).write(to: URL(filePath: path))
            #expect(chmod(path, 0o600) == 0)
        }
        return paths
    }

    private func problem(_ paths: FarmKeyPaths) -> String? {
        do throws(FarmKeysUnusable) { _ = try FarmKeyFiles(paths) } catch { return error.message }
        return nil
    }

    @Test("A node that writes reads three files, and a node that only reads two")
    func loads() throws {
        let folder = try TemporaryFolder()
        var paths = try written(in: folder)
        #expect(try FarmKeyFiles(paths).signing?.keys.count == 1)
        try FileManager.default.removeItem(atPath: try #require(paths.signing))
        #expect(problem(paths) == "cannot read \(folder.path)/signing.key: No such file or directory")
        paths.signing = nil
        #expect(try FarmKeyFiles(paths).signing == nil)
    }

    @Test(
        "A secret that other users can read is refused", arguments: ["farm.key", "signing.key"],
        [0o640, 0o604, 0o660] as [mode_t])
    func readable(name: String, mode: mode_t) throws {
        let folder = try TemporaryFolder()
        let paths = try written(in: folder)
        #expect(problem(paths) == nil)
        #expect(chmod("\(folder.path)/\(name)", mode) == 0)
        #expect(
            problem(paths)
                == "cannot read \(folder.path)/\(name): other users can access the file; restrict it with `chmod 600`")
    }

    @Test(
        "The list of trusted keys may be read by other users, and not written",
        arguments: [
            (0o644, nil), (0o664, "other users can change the file; restrict it with `chmod go-w`"),
            (0o646, "other users can change the file; restrict it with `chmod go-w`"),
        ] as [(mode_t, String?)])
    func writable(row: (mode: mode_t, reason: String?)) throws {
        let folder = try TemporaryFolder()
        let paths = try written(in: folder)
        #expect(chmod(paths.trusted, row.mode) == 0)
        #expect(problem(paths) == row.reason.map { "cannot read \(paths.trusted): \($0)" })
    }

    @Test("A writer whose own key is revoked, or is not trusted, is told so")
    func ownKey() throws {
        let folder = try TemporaryFolder()
        let revoked = try written(in: folder, revoked: true)
        #expect(problem(revoked)?.hasSuffix("is revoked in \(folder.path)/trusted.keys") == true)
        let stranger = try written(in: folder, isTrusted: false)
        #expect(problem(stranger)?.hasSuffix("is not listed as trusted in \(folder.path)/trusted.keys") == true)
    }

    @Test("A mistake has its file and line")
    func mistakes() throws {
        let folder = try TemporaryFolder()
        let paths = try written(in: folder)
        try Data("larder-trusted-keys 1\n\ntrust AAAA\n".utf8).write(to: URL(filePath: paths.trusted))
        #expect(problem(paths) == "\(paths.trusted):3: the public key must have 32 bytes in base64")
    }
}
