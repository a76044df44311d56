import ArgumentParser
import CommandSupport
import Foundation
import LocalCA
import TextCoding

/// One `install` or `uninstall`: shows what would change, asks for confirmation, then changes store by store.
struct TrustStoreChange {
    let isInstallation: Bool
    let entries: [RootEntry]
    let folder: AuthorityFolder

    private var verb: String { isInstallation ? "install" : "uninstall" }

    /// - Throws: exit code 1 if a change failed, 2 if no confirmation was possible.
    func run(_ options: TrustStoreOptions) throws {
        let stores = options.stores
        if stores.isEmpty { throw AuthorityCommand.refuse("no supported trust store was found") }
        for entry in entries {
            Terminal.talk("larder: \(printable(entry.certificate.facts.subject, limit: 512)), sha256 \(entry.fingerprint)\n")
        }
        var isComplete = true
        var planned: [(store: any TrustStore, names: Set<String>)] = []
        for store in stores {
            if let obstacle = store.obstacle {
                // If the store needs no change, it does not matter that Larder cannot change it.
                if entries.allSatisfy({ isDone(store.presence(of: $0)) }) { continue }
                tell(obstacle, of: store, options)
                isComplete = false
                continue
            }
            // Only a dry run reports here: `change` reads the state of each store again, since a change of an earlier store may have
            // affected it.
            let due = due(in: store, isTold: options.dryRun)
            if due.hasFault { isComplete = false }
            planned.append((store, Set(due.entries.map(\.name))))
            for entry in due.entries {
                let plan = store.plan(entry, isAdded: isInstallation)
                let words = options.dryRun ? "would change" : "will change"
                Terminal.talk("larder: \(words) \(place(store)): \(printable(plan, limit: 4096))\n")
            }
        }
        let isAnythingDue = planned.contains { !$0.names.isEmpty }
        if isInstallation, isAnythingDue, stores.contains(where: { $0.kind == .java }) { warnOfJava() }
        if !options.dryRun {
            if isAnythingDue { try ask(options) }
            for (store, names) in planned where !change(store, names) { isComplete = false }
        }
        if !isComplete { throw ExitCode.failure }
    }

    private func warnOfJava() {
        if entries.contains(where: \.isConstrained) { Terminal.talk("larder: warning: \(RootEntry.javaLimit)\n") }
    }

    private func place(_ store: any TrustStore) -> String { printable(store.title, limit: 4096) }

    private func isDone(_ presence: TrustStorePresence) -> Bool {
        switch presence {
        case .ours: isInstallation
        case .absent: !isInstallation
        case .others: true
        case .othersUnbelieved: !isInstallation
        case .halfway, .unclear: false
        }
    }

    /// - Parameter names: the entries that were confirmed; no others are changed.
    private func change(_ store: any TrustStore, _ names: Set<String>) -> Bool {
        var (due, hasFault) = due(in: store, isTold: true)
        due.removeAll { !names.contains($0.name) }
        if due.isEmpty { return !hasFault }
        do throws(TrustStoreError) {
            if isInstallation { try store.add(due) } else { try store.remove(due) }
        } catch {
            Terminal.talk("larder: \(place(store)): \(printable(error.reason, limit: 4096))\n")
            return false
        }
        let presences = due.map(store.presence)
        guard presences.allSatisfy(isDone) else {
            Terminal.talk("larder: \(place(store)): the tool reported success, but the store did not change\n")
            return false
        }
        for (entry, presence) in zip(due, presences) {
            Terminal.output("\(isInstallation ? "added to" : "removed from") \(place(store)): \(entry.name)\n")
            if !isInstallation, presence != .absent { tell(Self.foreignEntry, of: store) }
        }
        return !hasFault
    }

    private static let foreignEntry =
        "an entry that Larder did not add also contains the root certificate; Larder does not remove this entry"

    private func tell(_ words: String, of store: any TrustStore) {
        Terminal.talk("larder: \(place(store)): \(printable(words, limit: 4096))\n")
    }

    /// The roots to add or remove.
    /// - Parameter isTold: whether to report why the other roots need no change.
    private func due(in store: any TrustStore, isTold: Bool) -> (entries: [RootEntry], hasFault: Bool) {
        var due: [RootEntry] = []
        var hasFault = false
        func note(_ words: String) { if isTold { tell(words, of: store) } }
        for entry in entries {
            switch (store.presence(of: entry), isInstallation) {
            case (.absent, true), (.ours, false), (.halfway, _): due.append(entry)
            case (.absent, false): break
            case (.ours, true): note("\(entry.name) is already installed")
            case (.others, true): note("an entry that Larder did not add already contains the root certificate")
            case (.others, false), (.othersUnbelieved, false): note(Self.foreignEntry)
            case (.unclear(let reason), _), (.othersUnbelieved(let reason), true):
                note("\(reason); Larder skipped \(entry.name)")
                hasFault = true
            }
        }
        return (due, hasFault)
    }

    private func tell(_ obstacle: TrustStoreObstacle, of store: any TrustStore, _ options: TrustStoreOptions) {
        let words = options.words(verb: verb, folder: folder, kind: store.kind)
        let told =
            switch obstacle {
            case .needsRoot: "only root can change this store; run: sudo \(words)"
            case .belongsToAnother: "this store belongs to another user, who must run: \(words)"
            case .lacks(let tool, let package): "\(tool) is not installed (Debian's package \(package))"
            }
        Terminal.talk("larder: \(place(store)): \(printable(told, limit: 4096))\n")
    }

    private func ask(_ options: TrustStoreOptions) throws {
        if options.yes { return }
        guard isatty(0) == 1 else {
            Terminal.talk("larder: cannot ask for confirmation without a terminal; give --yes\n")
            throw ExitCode(2)
        }
        Terminal.talk("larder: continue? [y/N] ")
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw AuthorityCommand.refuse("nothing was changed")
        }
    }
}
