import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import LocalCA
import ServerTrust
import TextCoding

extension TrustStoreKind: ExpressibleByArgument {}

/// Which stores to change, and whether to change them.
struct TrustStoreOptions: ParsableArguments {
    @Option(help: "Change only this kind of store: system, nss or java. Repeatable.")
    var only: [TrustStoreKind] = []

    @Flag(help: "Show the changes, but make none.")
    var dryRun = false

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    /// For tests. Symbolic links in it are resolved inside it, and no hook of its own is run. It is not meant for changing system images.
    @Option(help: ArgumentHelp("Use this folder as /.", valueName: "folder", visibility: .hidden))
    var root: String?

    func validate() throws {
        if let root, !root.hasPrefix("/") { throw ValidationError("--root \(printable(root)): must begin with /") }
    }

    /// NSS databases belong to the user who runs the command, and are in no image.
    var stores: [any TrustStore] {
        let environment = ProcessInfo.processInfo.environment
        let tree = root == "/" ? SystemRoot.running : SystemRoot(path: root ?? "")
        let system = SystemTrustStore(in: tree, environment: environment)
        let nss = tree.isRunning ? NSSTrustStore.all(environment: environment) : []
        let java = JavaTrustStore.all(in: tree, environment: environment)
        // The system's store is first: its tool may also fill Java's.
        let all = (system.map { [$0] as [any TrustStore] } ?? []) + nss + java
        return all.filter { only.isEmpty || only.contains($0.kind) }
    }

    /// The same subcommand as a command line for another user to run, for one kind of store.
    func words(verb: String, folder: AuthorityFolder, kind: TrustStoreKind) -> String {
        let prefix = root.map { " --root \(ShellWord.of($0))" } ?? ""
        return "larder ca \(verb) --only \(kind.rawValue)\(prefix) --folder \(ShellWord.of(folder.path))"
    }
}

extension AuthorityCommand {
    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install", abstract: "Install the root certificate into the system's trust stores.",
            discussion: """
                Changes the system's store (Debian and Fedora kinds), NSS databases (Chromium, Firefox; with certutil) and \
                Java's cacerts (with keytool), if they exist. It asks for confirmation first. For a store that only another user \
                may change, it prints the command to run. larder ca uninstall reverts its changes.
                """)

        @OptionGroup var options: TrustStoreOptions
        @OptionGroup var place: AuthorityPlace

        func run() throws {
            let folder = try place.value()
            let roots = try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                try folder.roots(at: AuthorityCommand.now, asRoot: true)
            }
            let profiles = try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                try roots.all.map { root throws(AuthorityFolderError) in try folder.profile(root) }
            }
            if profiles.contains(where: { $0.hasEnded(at: AuthorityCommand.now) }) {
                throw AuthorityCommand.refuse(
                    "a root certificate has expired, so programs would reject the certificates it issues; see larder ca status")
            }
            try TrustStoreChange(isInstallation: true, entries: roots.all.map { RootEntry($0.certificate) }, folder: folder)
                .run(options)
        }
    }

    struct Uninstall: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "uninstall", abstract: "Remove the root certificate from the trust stores that install changed.",
            discussion:
                "Removes only entries with Larder's name and exactly this certificate. Everything else stays.")

        @Flag(help: "Remove only root certificates that a rotation has replaced.")
        var former = false

        @OptionGroup var options: TrustStoreOptions
        @OptionGroup var place: AuthorityPlace

        func run() throws {
            let folder = try place.value()
            let (certificates, faults) = try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                try folder.removable(formerOnly: former)
            }
            for fault in faults { Terminal.talk("larder: \(printable(fault.reason, limit: 4096))\n") }
            let entries = certificates.map { RootEntry($0) }
            if entries.isEmpty {
                if !faults.isEmpty { throw ExitCode.failure }
                return Terminal.talk("larder: there is no replaced root certificate\n")
            }
            try TrustStoreChange(isInstallation: false, entries: entries, folder: folder).run(options)
            if !faults.isEmpty { throw ExitCode.failure }
        }
    }
}
