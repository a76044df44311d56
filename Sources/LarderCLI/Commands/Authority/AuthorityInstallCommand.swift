import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import LocalCA
import ServerTrust
import TextCoding

extension TrustStoreKind: ExpressibleByArgument {}

/// The options that select the trust stores to change, and that determine whether the changes are made or only shown.
struct TrustStoreOptions: ParsableArguments {
    @Option(help: "Change only this kind of store: system, nss or java. Repeatable.")
    var only: [TrustStoreKind] = []

    @Flag(help: "Show the changes without making them.")
    var dryRun = false

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    /// Tests use this option; it is not meant for system images. Symbolic links in this folder are resolved inside it, and no hook in it
    /// is run.
    @Option(help: ArgumentHelp("Use this folder as the root of the file system.", valueName: "folder", visibility: .hidden))
    var root: String?

    func validate() throws {
        if let root, !root.hasPrefix("/") { throw ValidationError("--root \(printable(root)): the path must begin with /") }
    }

    /// With `--root`, NSS databases are left out: they belong to the user who runs the command.
    var stores: [any TrustStore] {
        let environment = ProcessInfo.processInfo.environment
        let tree = root == "/" ? SystemRoot.running : SystemRoot(path: root ?? "")
        let system = SystemTrustStore(in: tree, environment: environment)
        let nss = tree.isRunning ? NSSTrustStore.all(environment: environment) : []
        let java = JavaTrustStore.all(in: tree, environment: environment)
        // The system's store comes first, because the tool that updates it may also update Java's store.
        let all = (system.map { [$0] as [any TrustStore] } ?? []) + nss + java
        return all.filter { only.isEmpty || only.contains($0.kind) }
    }

    /// The command line with which another user can run the same subcommand for one kind of store.
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
                Changes these stores, if they exist: the system's (Debian, Fedora and related distributions), NSS databases \
                (Chromium, Firefox; with certutil) and Java's cacerts (with keytool). The command asks for confirmation first. \
                If only another user may change a store, it prints the command that this user must run. larder ca \
                uninstall reverts the changes.
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
                "Removes only entries that have Larder's name and contain exactly the root certificate. Other entries stay unchanged."
        )

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
                return Terminal.talk("larder: nothing to remove: no rotation has replaced a root certificate\n")
            }
            try TrustStoreChange(isInstallation: false, entries: entries, folder: folder).run(options)
            if !faults.isEmpty { throw ExitCode.failure }
        }
    }
}
