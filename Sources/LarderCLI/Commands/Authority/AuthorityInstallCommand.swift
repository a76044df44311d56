import ArgumentParser
import Foundation
import HTTPMessage
import ProxyAdmin
import ServerTrust

extension TrustStoreKind: ExpressibleByArgument {}

/// Which stores are meant, and whether anything is done.
struct TrustStoreOptions: ParsableArguments {
    @Option(help: "system, nss or java alone; repeatable.")
    var only: [TrustStoreKind] = []

    @Flag(help: "Says what would be done, and does nothing.")
    var dryRun = false

    @Flag(help: "Asks nothing.")
    var yes = false

    @Option(help: ArgumentHelp("A folder that stands for /, as for the image of a system.", valueName: "folder"))
    var root: String?

    func validate() throws {
        if let root, !root.hasPrefix("/") { throw ValidationError("--root \(printable(root)): has to begin with /") }
    }

    /// NSS's databases are the running user's, and in no image.
    var stores: [any TrustStore] {
        let environment = ProcessInfo.processInfo.environment
        let prefix = root == "/" ? "" : root ?? ""
        let system = SystemTrustStore(root: prefix, environment: environment)
        let nss = prefix.isEmpty ? NSSTrustStore.all(environment: environment) : []
        let java = JavaTrustStore.all(root: prefix, environment: environment)
        // The system's first: its program may fill Java's.
        let all = (system.map { [$0] as [any TrustStore] } ?? []) + nss + java
        return all.filter { only.isEmpty || only.contains($0.kind) }
    }

    /// The words of the same verb for another one to run, for one kind of store.
    func words(verb: String, folder: AuthorityFolder, kind: TrustStoreKind) -> String {
        let prefix = root.map { " --root \(Self.quoted($0))" } ?? ""
        return "larder ca \(verb) --only \(kind.rawValue)\(prefix) --folder \(Self.quoted(folder.path))"
    }

    /// A path as one word of a shell's.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || "/._-".utf8.contains($0) }
        return isPlain ? path : "'\(path.replacing("'", with: "'\\''"))'"
    }
}

extension AuthorityCommand {
    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install", abstract: "Puts the root where programs look for whom to believe.",
            discussion: """
                Into the system's store (Debian's and Fedora's kinds), NSS databases (Chromium, Firefox; by certutil) and Java's \
                cacerts (by keytool), as far as they are there. It asks before it does anything. Who may not change a store is told \
                what to run. larder ca uninstall takes back what it did.
                """)

        @OptionGroup var options: TrustStoreOptions
        @OptionGroup var place: AuthorityPlace

        func run() throws {
            let folder = try place.value()
            let roots = try AuthorityCommand.reading { () throws(AuthorityFolderFault) in
                try folder.roots(at: AuthorityCommand.now, asRoot: true)
            }
            try TrustStoreChange(isInstallation: true, entries: roots.all.map { RootEntry($0.certificate) }, folder: folder)
                .run(options)
        }
    }

    struct Uninstall: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "uninstall", abstract: "Takes the root out of the stores into which install put it.",
            discussion:
                "Only what stands there under Larder's name for it, and is this very certificate; nothing else is touched.")

        @Flag(help: "Only roots that a rotation has replaced.")
        var former = false

        @OptionGroup var options: TrustStoreOptions
        @OptionGroup var place: AuthorityPlace

        func run() throws {
            let folder = try place.value()
            let entries = try AuthorityCommand.reading { () throws(AuthorityFolderFault) in
                let roots = former ? [] : try folder.roots(at: AuthorityCommand.now, asRoot: true).all.map(\.certificate)
                return (roots + (try folder.formerRoots(asRoot: true))).map { RootEntry($0) }
            }
            if entries.isEmpty { return Terminal.talk("larder: there is no former root\n") }
            try TrustStoreChange(isInstallation: false, entries: entries, folder: folder).run(options)
        }
    }
}
