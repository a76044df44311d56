/// A store of trusted certificates that programs use.
package protocol TrustStore {
    var kind: TrustStoreKind { get }
    /// For users.
    var title: String { get }
    /// Why this process cannot change it; `nil` if it can.
    var obstacle: TrustStoreObstacle? { get }
    func presence(of entry: RootEntry) -> TrustStorePresence
    /// What adding or removing will do, for the confirmation.
    func plan(_ entry: RootEntry, isAdded: Bool) -> String
    /// Adds all at once, since some stores take seconds for any change.
    func add(_ entries: [RootEntry]) throws(TrustStoreError)
    func remove(_ entries: [RootEntry]) throws(TrustStoreError)
}

package enum TrustStoreKind: String, CaseIterable {
    case system, nss, java
}

package enum TrustStoreObstacle: Equatable {
    /// Only root may change it.
    case needsRoot
    case belongsToAnother
    /// The tool that changes it is not installed.
    case lacks(tool: String, package: String)
}

package enum TrustStorePresence: Equatable {
    case absent
    /// It is there under Larder's name.
    case ours
    /// Others have put it there: Larder leaves it unchanged.
    case others
    /// It is Larder's, but missing in one of its places, for example after an interrupted run, or still in a place that it must be removed
    /// from.
    case halfway
    /// Others have put it there, but it is not trusted.
    case othersUnbelieved(String)
    /// Another certificate has Larder's name, or the store cannot be read.
    case unclear(String)
}

/// An error message for people.
package struct TrustStoreError: Error {
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ tool: Tool, _ outcome: Tool.Outcome) {
        reason = "\(tool.path) exited with \(outcome.code): \(outcome.lastWord)"
    }
}
