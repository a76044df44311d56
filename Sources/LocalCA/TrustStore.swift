/// A store of trusted certificates that programs use.
package protocol TrustStore {
    var kind: TrustStoreKind { get }
    /// The name of the store, for users.
    var title: String { get }
    /// Why this process cannot change the store; `nil` if it can.
    var obstacle: TrustStoreObstacle? { get }
    func presence(of entry: RootEntry) -> TrustStorePresence
    /// A description of the planned change, for the confirmation.
    func plan(_ entry: RootEntry, isAdded: Bool) -> String
    /// Adds all entries at once, because some stores take seconds for each change.
    func add(_ entries: [RootEntry]) throws(TrustStoreError)
    func remove(_ entries: [RootEntry]) throws(TrustStoreError)
}

package enum TrustStoreKind: String, CaseIterable {
    case system, nss, java
}

package enum TrustStoreObstacle: Equatable {
    /// Only root may change the store.
    case needsRoot
    case belongsToAnother
    /// The tool that changes the store is not installed.
    case lacks(tool: String, package: String)
}

package enum TrustStorePresence: Equatable {
    case absent
    /// The store contains the root under Larder's name.
    case ours
    /// An entry that Larder did not add contains the root. Larder leaves this entry unchanged.
    case others
    /// Larder's entry is missing in one of its places, or was not removed from all of them, for example after an interrupted run.
    case halfway
    /// An entry that Larder did not add contains the root, but the store does not trust it.
    case othersUnbelieved(String)
    /// Another certificate has the root's name, or the store cannot be read.
    case unclear(String)
}

/// An error message for people.
package struct TrustStoreError: Error {
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ tool: Tool, _ outcome: Tool.Outcome) {
        reason = outcome.hasStarted ? "\(tool.path) exited with \(outcome.code): \(outcome.lastWord)" : outcome.lastWord
    }
}
