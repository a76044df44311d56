import Foundation
import LocalCA
import ServerTrust
import TestSupport
import Testing

@testable import LarderCLI

/// A tree in place of `/`, with programs that replace the system's.
private final class SystemImage {
    let folder: TemporaryFolder
    var root: String { "\(folder.path)/image" }
    var tools: String { "\(folder.path)/tools" }
    let bundle: String
    let anchors: String

    init(_ layout: SystemTrustStore.Layout) throws {
        folder = try TemporaryFolder()
        anchors = "\(folder.path)/image\(layout.folder)"
        bundle = "\(folder.path)/image\(layout.bundle)"
        let files = FileManager.default
        for place in [anchors, URL(filePath: bundle).deletingLastPathComponent().path] {
            try files.createDirectory(atPath: place, withIntermediateDirectories: true)
        }
        let script = "#!/bin/sh\ncat '\(anchors)'/* > '\(bundle)' 2> /dev/null || : > '\(bundle)'\n"
        // In an image, Fedora's tool is run with chroot.
        try tool(layout == .debian ? "update-ca-certificates" : "chroot", script)
    }

    func tool(_ name: String, _ script: String) throws {
        let file = try folder.write(script, to: "tools/\(name)")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
    }

    /// Every file with its bytes.
    func contents() throws -> [String: Data] {
        let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return Dictionary(
            uniqueKeysWithValues: names.compactMap { name in
                FileManager.default.contents(atPath: "\(root)/\(name)").map { (name, $0) }
            })
    }
}

@Suite("larder ca install and uninstall")
struct TrustStoreTests {
    private func run(_ stage: AuthorityStage, _ image: SystemImage, _ words: String...) throws -> CommandLineTests.Outcome {
        try stage.larder(words + ["--root", image.root], path: "\(image.tools):/usr/bin:/bin")
    }

    @Test("uninstall restores the trust stores byte for byte", arguments: SystemTrustStore.Layout.allCases)
    func installsAndTakesBack(layout: SystemTrustStore.Layout) throws {
        let stage = try AuthorityStage()
        let image = try SystemImage(layout)
        try Data("another's\n".utf8).write(to: URL(filePath: "\(image.anchors)/another.crt"))
        try Data("another's\n".utf8).write(to: URL(filePath: image.bundle))
        let before = try image.contents()

        let dry = try run(stage, image, "install", "--dry-run")
        #expect(dry.code == 0 && dry.output.isEmpty && dry.talk.contains("would change the system's store"))
        let unasked = try run(stage, image, "install")
        #expect(unasked.code == 2 && unasked.talk.contains("cannot ask for confirmation without a terminal; give --yes"))
        #expect(try image.contents() == before)

        let installed = try run(stage, image, "install", "--yes")
        #expect(installed.code == 0 && installed.output.hasPrefix("added to the system's store "), "\(installed.talk)")
        #expect(try stage.text(image.bundle).contains(stage.text(stage.root)))
        let again = try run(stage, image, "install", "--yes")
        #expect(again.code == 0 && again.output.isEmpty && again.talk.contains("is already installed"))

        let removed = try run(stage, image, "uninstall", "--yes")
        #expect(removed.code == 0 && removed.output.hasPrefix("removed from the system's store "), "\(removed.talk)")
        #expect(try image.contents() == before)
        let nothing = try run(stage, image, "uninstall", "--yes")
        #expect(nothing.code == 0 && nothing.output.isEmpty)
    }

    @Test("uninstall leaves other certificates with Larder's name, and another CA's root")
    func touchesNothingElse() throws {
        let stage = try AuthorityStage()
        let other = try AuthorityStage()
        let image = try SystemImage(.debian)
        _ = try run(other, image, "install", "--yes")
        _ = try run(stage, image, "install", "--yes")
        let names = try FileManager.default.contentsOfDirectory(atPath: image.anchors)
        let mine = try #require(names.first { try stage.text("\(image.anchors)/\($0)") == stage.text(stage.root) })
        try Data("mine no more\n".utf8).write(to: URL(filePath: "\(image.anchors)/\(mine)"))
        let outcome = try run(stage, image, "uninstall", "--yes")
        #expect(outcome.code == 1 && outcome.talk.contains("\(mine) contains a different certificate; Larder skipped "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: image.anchors).count == 2)
    }

    @Test("If a tool fails, install restores the former state, and the tool's message is printed", arguments: [true, false])
    func takesBackAfterFailure(says: Bool) throws {
        let stage = try AuthorityStage()
        let image = try SystemImage(.debian)
        let before = try image.contents()
        try image.tool("update-ca-certificates", says ? "#!/bin/sh\necho no room >&2\nexit 3\n" : "#!/bin/sh\nexit 0\n")
        let outcome = try run(stage, image, "install", "--yes")
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(outcome.talk.contains(says ? "exited with 3: no room" : "did not add the root certificate to"), "\(outcome.talk)")
        #expect(try image.contents() == before)
    }

    @Test("If an uninstall's tool fails, the root stays as Larder's own, so that the next uninstall removes it")
    func staysLarders() throws {
        let stage = try AuthorityStage()
        let image = try SystemImage(.debian)
        let before = try image.contents()
        _ = try run(stage, image, "install", "--yes")
        let installed = try image.contents()
        let good = try stage.text("\(image.tools)/update-ca-certificates")
        try image.tool("update-ca-certificates", "#!/bin/sh\nexit 3\n")
        #expect(try run(stage, image, "uninstall", "--yes").code == 1)
        #expect(try image.contents() == installed)
        try image.tool("update-ca-certificates", good)
        #expect(try run(stage, image, "uninstall", "--yes").output.hasPrefix("removed from "))
        #expect(try image.contents().filter { !$0.value.isEmpty } == before)
    }

    @Test("An interrupted change is completed: a file that is missing in the bundle, and an entry of the bundle without a file")
    func endsWhatWasBegun() throws {
        let stage = try AuthorityStage()
        let image = try SystemImage(.debian)
        _ = try run(stage, image, "install", "--yes")
        let installed = try image.contents()
        try Data().write(to: URL(filePath: image.bundle))
        #expect(try run(stage, image, "install", "--yes").output.hasPrefix("added to "))
        #expect(try image.contents() == installed)
        let file = try #require(FileManager.default.contentsOfDirectory(atPath: image.anchors).first)
        try FileManager.default.removeItem(atPath: "\(image.anchors)/\(file)")
        let removed = try run(stage, image, "uninstall", "--yes")
        #expect(removed.code == 0 && removed.output.hasPrefix("removed from "), "\(removed.talk)")
        #expect(try stage.text(image.bundle).isEmpty)
    }

    @Test("A file that Larder did not write stays, even if it has the same root, and is not an error")
    func leavesOthersFiles() throws {
        let stage = try AuthorityStage()
        let image = try SystemImage(.debian)
        try FileManager.default.copyItem(atPath: stage.root, toPath: "\(image.anchors)/others.crt")
        _ = try run(stage, image, "install", "--yes")
        let both = try run(stage, image, "uninstall", "--yes")
        #expect(both.code == 0)
        let file = try stage.larder(["export"]).output
        #expect(try stage.text("\(image.anchors)/others.crt") == file)
        _ = try CommandLineTests.shell("cat $anchors/* > $bundle", ["anchors": image.anchors, "bundle": image.bundle])
        let others = try run(stage, image, "uninstall", "--yes")
        #expect(
            others.code == 0
                && others.talk.contains("an entry that Larder did not add also contains the root certificate"),
            "\(others.talk)")
    }

    @Test("With another folder as /, symbolic links do not lead out of it, and no hook in it runs")
    func staysInTheTree() throws {
        let stage = try AuthorityStage()
        let image = try SystemImage(.debian)
        let files = FileManager.default
        let outside = try image.folder.write("outside", to: "outside/cacerts")
        for (link, target) in [
            ("usr/lib/jvm/a/lib/security/cacerts", outside),
            ("usr/lib/jvm/b/lib/security/cacerts", "/etc/ssl/certs/java/cacerts"),
            ("usr/lib/jvm/c/lib/security/cacerts", "../../../../../../../../../../../../../../..\(outside)"),
            ("usr/lib/jvm/d/lib/security/cacerts", "cacerts"), ("etc/pki", "/../\(image.folder.path)/outside"),
        ] {
            let place = URL(filePath: "\(image.root)/\(link)")
            try files.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: place.path, withDestinationPath: target)
        }
        let own = try image.folder.write("own", to: "image/etc/ssl/certs/java/cacerts")
        let tree = SystemRoot(path: image.root)
        #expect(JavaTrustStore.all(in: tree, environment: [:]).map(\.title) == ["Java's \(own)"])
        #expect(tree.resolved("/etc/pki/cacerts") == "\(image.root)\(image.folder.path)/outside/cacerts")

        try image.tool("update-ca-certificates", "#!/bin/sh\necho \"$@\" > '\(image.folder.path)/words'\n")
        _ = try run(stage, image, "install", "--only", "system", "--yes")
        #expect(try stage.text("\(image.folder.path)/words").contains("--hooksdir /dev/null"))
    }

    @Test("Removing the root works without the key, and whatever the permissions of its files")
    func uninstallsWithoutKey() throws {
        let stage = try AuthorityStage()
        let image = try SystemImage(.debian)
        _ = try run(stage, image, "install", "--yes")
        try stage.chmod(0o644, stage.key)
        #expect(try run(stage, image, "install", "--yes").talk.contains("root.key: other users can access this file"))
        let removed = try run(stage, image, "uninstall", "--yes")
        #expect(removed.code == 0 && removed.output.hasPrefix("removed from "), "\(removed.talk)")
    }

    @Test(
        "The limits of Java's name constraints are reported when a constrained root is added for Java", arguments: [true, false])
    func warnsOfJava(isConstrained: Bool) throws {
        let stage = try AuthorityStage(isConstrained ? ["--constrain", "corp.test"] : [])
        #expect(
            try stage.larder(["export", "-f", "pkcs12"]).talk.contains("Java ignores name constraints of root") == isConstrained)
        #expect(try stage.larder(["export"]).talk.isEmpty)
        let image = try SystemImage(.debian)
        _ = try image.folder.write("", to: "image/etc/ssl/certs/java/cacerts")
        let dry = try run(stage, image, "install", "--dry-run")
        #expect(dry.talk.contains("Java ignores name constraints of root certificates") == isConstrained, "\(dry.talk)")
    }

    @Test("During a rotation both roots are installed; the former one can be removed separately")
    func followsRotation() throws {
        let stage = try AuthorityStage()
        let image = try SystemImage(.debian)
        let first = try stage.text(stage.root)
        _ = try stage.larder(["rotate"])
        let both = try run(stage, image, "install", "--yes")
        #expect(both.output.split(separator: "\n").count == 2)
        _ = try stage.larder(["rotate", "--finish"])
        let former = try run(stage, image, "uninstall", "--former", "--yes")
        #expect(former.output.split(separator: "\n").count == 1)
        let bundle = try stage.text(image.bundle)
        #expect(try !bundle.contains(first) && bundle.contains(stage.text(stage.root)))
    }

    @Test(
        "A user who may not change the system's store gets the command to run",
        .enabled(if: getuid() == 0 && FileManager.default.fileExists(atPath: "/usr/bin/setpriv"), "root becomes nobody here"))
    func tellsTheCommand() throws {
        let stage = try AuthorityStage()
        let image = try SystemImage(.debian)
        let outcome = try CommandLineTests.shell(
            """
            chmod 755 $home $home/.local $home/.local/share $home/.local/share/larder $image
            chown -R 65534:65534 $home/.local/share/larder/ca
            ln -s $image "$home/it's an image"
            setpriv --reuid=65534 --regid=65534 --clear-groups $larder ca install --yes --root "$home/it's an image" --folder $home/.local/share/larder/ca
            """, ["home": stage.folder.path, "image": image.root])
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(
            outcome.talk.contains(
                "only root can change this store; run: sudo larder ca install --only system --root '\(stage.folder.path)/it'\\''s an image' --folder \(stage.path)"
            ),
            "\(outcome.talk)")
        // If there is nothing to remove, root is not needed.
        let nothing = try CommandLineTests.shell(
            "setpriv --reuid=65534 --regid=65534 --clear-groups $larder ca uninstall --yes --root $image --folder $home/.local/share/larder/ca",
            ["home": stage.folder.path, "image": image.root])
        #expect(nothing.code == 0 && nothing.talk.split(separator: "\n").count == 1, "\(nothing.talk)")
    }

    @Test("install changes an NSS database with certutil, and uninstall restores its list", .enabled(if: Tools.has("certutil")))
    func changesNSS() throws {
        let stage = try AuthorityStage()
        let database = "\(stage.folder.path)/.mozilla/firefox/ab.default"
        let variables = ["database": database, "root": stage.root]
        let made = try CommandLineTests.shell(
            "mkdir -p $database && certutil -N -d sql:$database --empty-password && certutil -L -d sql:$database", variables)
        try #require(made.code == 0, "\(made.talk)")
        let installed = try stage.larder(["install", "--only", "nss", "--yes"])
        #expect(
            installed.code == 0 && installed.output.hasPrefix("added to the NSS database \(database): larder-"),
            "\(installed.talk)")
        let listed = try CommandLineTests.shell("certutil -L -d sql:$database | grep '^larder-.*C,,'", variables)
        #expect(listed.code == 0)
        #expect(try stage.larder(["install", "--only", "nss", "--yes"]).output.isEmpty)
        #expect(try stage.larder(["uninstall", "--only", "nss", "--yes"]).code == 0)
        #expect(try CommandLineTests.shell("certutil -L -d sql:$database", variables).output == made.output)

        // Another's entry, under a different name.
        _ = try CommandLineTests.shell("certutil -A -d sql:$database -n 'my own' -t C,, -i $root", variables)
        #expect(
            try stage.larder(["install", "--only", "nss", "--yes"]).talk.contains(
                "an entry that Larder did not add already contains the root certificate"))
        #expect(
            try stage.larder(["uninstall", "--only", "nss", "--yes"]).talk.contains(
                "an entry that Larder did not add also contains the root certificate"))
        #expect(try CommandLineTests.shell("certutil -L -d sql:$database -n 'my own'", variables).code == 0)
        // It is in the database without trust, which must be reported: programs of that user would not trust it either.
        _ = try CommandLineTests.shell("certutil -M -d sql:$database -n 'my own' -t ,,", variables)
        let unbelieved = try stage.larder(["install", "--only", "nss", "--yes"])
        #expect(unbelieved.code == 1)
        #expect(unbelieved.talk.contains("as my own, but does not trust it for servers"), "\(unbelieved.talk)")
        #expect(try stage.larder(["uninstall", "--only", "nss", "--yes"]).code == 0)
    }

    @Test("If Larder's root in an NSS database has lost its trust, install restores it", .enabled(if: Tools.has("certutil")))
    func believesAgain() throws {
        let stage = try AuthorityStage()
        let database = "\(stage.folder.path)/data/pki/nssdb"
        let script = """
            mkdir -p $database && certutil -N -d sql:$database --empty-password && export XDG_DATA_HOME=$home/data
            install() { $larder ca install --only nss --yes --folder $ca; }
            install && certutil -M -d sql:$database -n $name -t ,, && install && certutil -L -d sql:$database | grep '^larder-.*C,,'
            """
        let root = try #require(Certificate.reading(pem: Array(stage.text(stage.root).utf8))?.first)
        let outcome = try CommandLineTests.shell(
            script,
            [
                "database": database, "home": stage.folder.path, "HOME": stage.folder.path, "ca": stage.path,
                "name": RootEntry(root).name,
            ])
        #expect(outcome.code == 0 && outcome.output.split(separator: "added to").count == 2, "\(outcome)")
    }

    @Test("Java's cacerts is changed with keytool, and has the same list afterwards", .enabled(if: Tools.has("keytool")))
    func changesJava() throws {
        let stage = try AuthorityStage()
        let other = try AuthorityStage()
        let image = "\(stage.folder.path)/image"
        let variables = ["image": image, "other": other.root, "store": "\(image)/etc/ssl/certs/java/cacerts"]
        let list = "keytool -list -keystore $store -storepass changeit"
        let made = try CommandLineTests.shell(
            """
            mkdir -p $image/etc/ssl/certs/java &&
            keytool -importcert -noprompt -alias other -file $other -keystore $store -storepass changeit && \(list)
            """, variables)
        try #require(made.code == 0, "\(made.talk)")
        let installed = try stage.larder(["install", "--root", image, "--yes"])
        #expect(installed.code == 0 && installed.output.hasPrefix("added to Java's "), "\(installed.talk)")
        #expect(try CommandLineTests.shell(list, variables).output.contains("contains 2 entries"))
        #expect(
            try other.larder(["install", "--root", image, "--yes"]).talk.contains(
                "an entry that Larder did not add already contains the root certificate"))
        #expect(try stage.larder(["uninstall", "--root", image, "--yes"]).code == 0)
        #expect(try CommandLineTests.shell(list, variables).output == made.output)

        // As Debian's hook adds it, from the system's store.
        let root = try #require(Certificate.reading(pem: Array(stage.text(stage.root).utf8))?.first)
        let hooked = try CommandLineTests.shell(
            "keytool -importcert -noprompt -alias debian:$name.pem -file $root -keystore $store -storepass changeit",
            variables.merging(["name": RootEntry(root).name, "root": stage.root]) { $1 })
        try #require(hooked.code == 0)
        #expect(try stage.larder(["install", "--root", image, "--yes"]).talk.contains("is already installed"))
        // Besides it, an entry of another's, and Larder's own.
        let names = variables.merging(["name": RootEntry(root).name, "root": stage.root]) { $1 }
        let beside = try CommandLineTests.shell(
            "for alias in $name zz-mine; do keytool -importcert -noprompt -alias $alias -file $root -keystore $store -storepass changeit; done",
            names)
        try #require(beside.code == 0)
        let removed = try stage.larder(["uninstall", "--root", image, "--yes"])
        #expect(removed.code == 0 && removed.output.hasPrefix("removed from Java's "), "\(removed.talk)")
        #expect(removed.talk.contains("an entry that Larder did not add also contains the root certificate"))
        _ = try CommandLineTests.shell("keytool -delete -alias zz-mine -keystore $store -storepass changeit", names)
        #expect(try CommandLineTests.shell(list, variables).output == made.output)
    }

    @Test("The lists of the tools are parsed")
    func readsLists() {
        #expect(
            NSSTrustStore.listed(
                in:
                    "\nCertificate Nickname                Trust Attributes\n                  SSL,S/MIME,JAR/XPI\n\nmy own root      CT,C,c\nu  u,u,u\n"
            ).map { "\($0.nickname) \($0.isBelieved)" } == ["my own root true", "u false"])
        let aliases = JavaTrustStore.aliases(
            in:
                "Your keystore contains 1 entry\n\nlarder-00, Nov 22, 2026, trustedCertEntry, \nCertificate fingerprint (SHA-256): AB:CD\n"
        )
        #expect(aliases.map(\.alias) == ["larder-00"] && aliases.map(\.fingerprint) == ["AB:CD"])
    }
}

private enum Tools {
    static func has(_ name: String) -> Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)") }
}
