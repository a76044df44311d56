import CertificateAuthority
import CommandSupport
import Foundation
import LocalCA
import ServerTrust
import TestSupport
import Testing

@testable import LarderCLI

@Suite("larder ca: the CA's files")
struct AuthorityFolderTests {
    @Test("init creates a root and a key that only their owner can access, and never overwrites them")
    func begins() throws {
        let stage = try AuthorityStage(["--days", "10"])
        #expect(try stage.mode(stage.path) == 0o700 && stage.mode("\(stage.path)/current") == 0o700)
        #expect(try stage.mode(stage.key) == 0o600 && stage.mode(stage.root) == 0o600)
        let key = try stage.text(stage.key)
        let again = try stage.larder(["init"])
        #expect(again.code == 1 && again.talk.contains("a CA already exists in \(stage.path)"))
        #expect(try stage.text(stage.key) == key)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.path) == ["current"])
    }

    @Test("T29: two homes have different roots")
    func makesUniqueRoots() throws {
        let outputs = try [AuthorityStage(), AuthorityStage()].map { try $0.text($0.root) }
        #expect(outputs[0] != outputs[1])
    }

    @Test(
        "T27: a key, a root or a folder that other users can access is refused with the fix",
        arguments: [
            ("", 0o755), ("", 0o710), ("/current", 0o705), ("/current/root.key", 0o640), ("/current/root.key", 0o604),
            ("/current/root.pem", 0o620),
        ],
        ["status", "rotate", "export", "install"])
    func refusesOpenFiles(place: (name: String, mode: Int), verb: String) throws {
        let stage = try AuthorityStage()
        try stage.chmod(place.mode, stage.path + place.name)
        let outcome = try stage.larder([verb])
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(
            outcome.talk.contains(
                "\(stage.path)\(place.name): other users can access this \(place.name.contains("root.") ? "file" : "folder"); restrict it with `chmod \(place.name.contains("root.") ? 600 : 700)`"
            ))
    }

    @Test("T27: init creates no key in a folder that other users can access")
    func refusesOpenFolders() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let outcome = try CommandLineTests.larder("ca", "init", "--folder", folder.path)
        #expect(outcome.code == 1 && outcome.talk.contains("other users can access this folder"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        "T27: a key that belongs to another user, or is a symbolic link, is refused",
        .enabled(if: getuid() == 0, "only root gives files away"))
    func refusesAnothersKey() throws {
        let stage = try AuthorityStage()
        try #require(chown(stage.key, 65_534, 65_534) == 0)
        #expect(try stage.larder(["status"]).talk == "larder: \(stage.key) belongs to another user\n")
        let moved = "\(stage.folder.path)/elsewhere.key"
        try FileManager.default.moveItem(atPath: stage.key, toPath: moved)
        try FileManager.default.createSymbolicLink(atPath: stage.key, withDestinationPath: moved)
        #expect(try stage.larder(["status"]).talk == "larder: \(stage.key) is not a file\n")
    }

    @Test("T27: no subcommand prints any part of a key or a passphrase")
    func keepsSecrets() throws {
        let home = try TemporaryFolder()
        let passphrase = try home.write("correct horse battery\n", to: "passphrase")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: passphrase)
        let stage = try AuthorityStage(["--passphrase-file", passphrase])
        let locked = try stage.text(stage.key)
        #expect(locked.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
        var said = ""
        for words in [
            ["status"], ["status", "-o", "json"], ["status", "--passphrase-file", passphrase], ["export"],
            ["rotate", "--passphrase-file", passphrase], ["install", "--dry-run", "--root", home.path], ["rotate", "--finish"],
            ["status", "--passphrase-file", passphrase],
        ] {
            let outcome = try stage.larder(words)
            said += outcome.output + outcome.talk
        }
        #expect(said.contains("encrypted, not opened") && !said.contains("correct") && !said.contains("PRIVATE"))
        for line in locked.split(separator: "\n") where !line.hasPrefix("-----") { #expect(!said.contains(line)) }
        let wrong = try home.write("wrong\n", to: "wrong")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: wrong)
        let forgotten = try stage.larder(["rotate"])
        #expect(
            forgotten.code == 1 && forgotten.talk.contains("is encrypted; give the passphrase of the next key"), "\(forgotten)")
        let refused = try stage.larder(["status", "--passphrase-file", wrong])
        #expect(refused.code == 1 && refused.talk.contains("the passphrase is wrong"))
    }

    @Test("A passphrase file that other users can read, or that has no passphrase, is refused")
    func refusesPassphraseFiles() throws {
        let folder = try TemporaryFolder()
        let open = try folder.write("secret\n", to: "open")
        let empty = try folder.write("\nsecret\n", to: "empty")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: empty)
        for (file, reason) in [
            (open, "other users can access the file"), (empty, "1 to 1024 bytes"), ("\(folder.path)/none", "No such file"),
        ] {
            let outcome = try CommandLineTests.larder("ca", "init", "--folder", "\(folder.path)/ca", "--passphrase-file", file)
            #expect(outcome.code == 1 && outcome.talk.contains(reason) && !outcome.talk.contains("secret"), "\(outcome.talk)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/ca"))
    }

    @Test(
        "Files that are missing, damaged or of different roots give different errors, with exit code 1",
        arguments: [
            ("root.pem", "", "root.pem does not contain exactly one certificate in PEM"),
            ("root.pem", "\0\u{1}garbage", "root.pem does not contain exactly one certificate in PEM"),
            (
                "root.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                "root.key is not a private key in PEM"
            ),
            ("root.key", "", "root.key is not a private key in PEM"),
        ])
    func tellsDamage(name: String, text: String, reason: String) throws {
        let stage = try AuthorityStage()
        let file = "\(stage.path)/current/\(name)"
        _ = try stage.folder.write(text, to: ".local/share/larder/ca/current/\(name)")
        try stage.chmod(0o600, file)
        let damaged = try stage.larder(["status"])
        #expect(damaged.code == 1 && damaged.talk == "larder: \(stage.path)/current/\(reason)\n")
        try FileManager.default.removeItem(atPath: file)
        let missing = try stage.larder(["status"])
        #expect(missing.code == 1 && missing.talk == "larder: \(file): No such file or directory\n")
    }

    @Test("A key of another root, and a folder without a CA, are reported")
    func tellsMismatch() throws {
        let stage = try AuthorityStage()
        let other = try AuthorityStage()
        try FileManager.default.removeItem(atPath: stage.key)
        try FileManager.default.copyItem(atPath: other.key, toPath: stage.key)
        try stage.chmod(0o600, stage.key)
        #expect(try stage.larder(["status"]).talk == "larder: \(stage.key) does not belong to \(stage.root)\n")
        for verb in ["status", "export", "rotate", "install", "uninstall"] {
            let none = try stage.larder([verb, "--folder", "\(stage.folder.path)/none"])
            #expect(none.code == 1 && none.talk.hasSuffix("/none; `larder ca init` creates one\n"), "\(none.talk)")
        }
    }

    // MARK: Rotation

    @Test(
        "rotate stores the next root beside the old one; from the first second of the given day on, the next root issues certificates"
    )
    func rotates() throws {
        let stage = try AuthorityStage(["--constrain", "corp.test"])
        let rotated = try stage.larder(["rotate", "--from", "2030-01-01"])
        #expect(rotated.code == 1 && rotated.talk.contains("would expire before 2030-01-01") == (rotated.code == 1))
        let begun = try stage.larder(["rotate", "--from", "2030-01-01", "--days", "3650"])
        #expect(begun.code == 0 && begun.output.contains("corp.test"))
        let folder = AuthorityFolder(path: stage.path)
        let turn = try #require(CalendarDay("2030-01-01")).firstSecond
        let before = try folder.roots(at: POSIXTime(seconds: turn.seconds - 1))
        let after = try folder.roots(at: turn)
        #expect(before.signing.seat == .current && before.other?.seat == .next)
        #expect(after.signing.seat == .next && after.other?.seat == .current)
        #expect(try stage.larder(["export"]).output.split(separator: "BEGIN CERTIFICATE").count == 3)
        #expect(try stage.larder(["rotate"]).talk.contains("a rotation is in progress"))
        // Each root has its own key.
        #expect(try folder.authority(.next, passphrase: nil).root == after.signing.certificate)

        let finished = try stage.larder(["rotate", "--finish"])
        #expect(finished.code == 0)
        #expect(try folder.roots(at: turn).all.map(\.certificate) == [after.signing.certificate])
        #expect(try folder.authority(.current, passphrase: nil).root == after.signing.certificate)
        #expect(try folder.removable(formerOnly: true).certificates == [before.signing.certificate])
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.path).sorted() == ["current", "former"])
        #expect(try stage.larder(["rotate", "--finish"]).talk == "larder: no rotation is in progress\n")
    }

    @Test("Of several simultaneous rotation ends one succeeds, and the CA is usable afterwards")
    func endsOnce() throws {
        let stage = try AuthorityStage()
        _ = try stage.larder(["rotate"])
        let next = try stage.text("\(stage.path)/next/root.pem")
        let outcome = try CommandLineTests.shell(
            "seq 6 | xargs -P 6 -I{} $larder ca rotate --finish --folder $folder", ["folder": stage.path])
        #expect(outcome.talk.components(separatedBy: "the next root certificate is in use").count == 2, "\(outcome.talk)")
        #expect(outcome.talk.components(separatedBy: "no rotation is in progress").count == 6, "\(outcome.talk)")
        #expect(try stage.text(stage.root) == next)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.path).sorted() == ["current", "former"])
    }

    @Test("Ending a rotation is refused if the next key is missing or damaged, and the old root stays")
    func keepsTheOldKey() throws {
        let stage = try AuthorityStage()
        _ = try stage.larder(["rotate"])
        let old = try stage.text(stage.key)
        let next = "\(stage.path)/next/root.key"
        _ = try stage.folder.write("damaged", to: ".local/share/larder/ca/next/root.key")
        let damaged = try stage.larder(["rotate", "--finish"])
        #expect(damaged.code == 1 && damaged.talk == "larder: \(next) is not a private key in PEM\n")
        try FileManager.default.removeItem(atPath: next)
        let missing = try stage.larder(["rotate", "--finish"])
        #expect(missing.code == 1 && missing.talk == "larder: \(next): No such file or directory\n")
        #expect(try stage.text(stage.key) == old)
    }

    @Test("The next change removes files and keys that interrupted runs left")
    func sweeps() throws {
        let stage = try AuthorityStage()
        for name in [".leaving.1", ".current.2", ".next.3"] {
            try FileManager.default.copyItem(atPath: "\(stage.path)/current", toPath: "\(stage.path)/\(name)")
        }
        #expect(try stage.larder(["rotate", "--finish"]).talk == "larder: no rotation is in progress\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.path) == ["current"])
    }

    @Test("If the old key has an older OpenSSL encryption, the next key must be encrypted too")
    func knowsOlderEncryption() throws {
        let stage = try AuthorityStage()
        let locked = try CommandLineTests.shell(
            "umask 077; openssl ec -in $key -aes256 -passout pass:secret -out $key.new && mv $key.new $key", ["key": stage.key])
        try #require(try locked.code == 0 && stage.text(stage.key).contains("Proc-Type: 4,ENCRYPTED"), "\(locked.talk)")
        let rotated = try stage.larder(["rotate"])
        #expect(
            rotated.code == 1 && rotated.talk.contains("is encrypted; give the passphrase of the next key"), "\(rotated.talk)")
    }

    @Test("The umask does not remove the owner's permissions")
    func isWhateverTheUmask() throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            "umask 0277; $larder ca init --folder $home/ca && $larder ca status --folder $home/ca && stat -c %a $home/ca/current/root.key",
            ["home": folder.path])
        #expect(outcome.code == 0 && outcome.output.hasSuffix("600\n"), "\(outcome.talk)")
    }

    @Test("install checks the root without its key: it is a CA certificate, has readable constraints and has not expired")
    func installsAuthoritiesAlone() throws {
        let stage = try AuthorityStage()
        let folder = try TemporaryFolder()
        func verdict(_ options: String) throws -> CommandLineTests.Outcome {
            let made = try CommandLineTests.shell(
                "umask 077; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=x -keyout $key -out $root \(options)",
                ["key": stage.key, "root": stage.root])
            try #require(made.code == 0, "\(made.talk)")
            return try stage.larder(["install", "--dry-run", "--root", folder.path])
        }
        for (options, reason) in [
            ("-addext basicConstraints=critical,CA:FALSE", "is not a CA certificate"),
            (
                "-addext nameConstraints=critical,permitted\\;email:corp.test",
                "name constraints that were not written by Larder"
            ),
        ] {
            let outcome = try verdict(options)
            #expect(outcome.code == 1 && outcome.talk.contains(reason), "\(options): \(outcome.talk)")
        }
        let ended = try LocalAuthority(making: RootTerms(user: "a", host: "b", days: 1), at: POSIXTime(seconds: 1_000_000_000))
        try Data(ended.rootText.utf8).write(to: URL(filePath: stage.root))
        #expect(
            try stage.larder(["install", "--dry-run", "--root", folder.path]).talk.contains("a root certificate has expired"))
    }

    @Test("A rotation that was interrupted while it ended still has the next root")
    func survivesTheEnd() throws {
        let stage = try AuthorityStage()
        _ = try stage.larder(["rotate"])
        try FileManager.default.moveItem(atPath: "\(stage.path)/current", toPath: "\(stage.path)/.leaving.1")
        let folder = AuthorityFolder(path: stage.path)
        let roots = try folder.roots(at: POSIXTime(seconds: 0))
        #expect(roots.signing.seat == .next && roots.other == nil)
        #expect(try stage.larder(["status"]).code == 0)
        #expect(try stage.larder(["rotate", "--finish"]).code == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.path) == ["current"])
        #expect(try folder.authority(.current, passphrase: nil).root == roots.signing.certificate)
    }

    @Test(
        "Usage errors exit with 2",
        arguments: [
            ["init", "--days", "0"], ["init", "--days", "3651"], ["init", "--constrain", "*.corp.test"],
            ["init", "--constrain", "a b"],
            ["rotate", "--from", "2026-13-01"], ["rotate", "--from", "2020-01-01"],
            ["rotate", "--finish", "--from", "2090-01-01"],
            ["rotate", "--constrain", "a.test", "--unconstrained"], ["export", "-f", "key"], ["install", "--only", "firefox"],
            ["install", "--root", "relative"],
        ])
    func refusesWords(words: [String]) throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.larder(["ca"] + words + ["--folder", "\(folder.path)/ca"])
        #expect(outcome.code == 2 && !FileManager.default.fileExists(atPath: "\(folder.path)/ca"), "\(outcome.talk)")
    }

    @Test("An empty folder name is refused")
    func refusesNoFolder() throws {
        #expect(try CommandLineTests.larder("ca", "status", "--folder", "").code == 2)
    }

    @Test("help describes every subcommand", arguments: ["init", "status", "install", "uninstall", "rotate", "export"])
    func helps(verb: String) throws {
        let outcome = try CommandLineTests.larder("help", "ca", verb)
        #expect(outcome.code == 0 && outcome.output.contains("USAGE: larder ca \(verb)"))
    }
}
