/// A place where programs look for whom to believe.
package protocol TrustStore {
    var kind: TrustStoreKind { get }
    /// For people.
    var title: String { get }
    /// Why this process cannot change it; `nil` where it can.
    var obstacle: TrustStoreObstacle? { get }
    func presence(of entry: RootEntry) -> TrustStorePresence
    /// What adding or removing does, for people who are asked first.
    func plan(_ entry: RootEntry, isAdded: Bool) -> String
    /// All at once, since some stores take seconds whatever is changed in them.
    func add(_ entries: [RootEntry]) throws(TrustStoreError)
    func remove(_ entries: [RootEntry]) throws(TrustStoreError)
}

package enum TrustStoreKind: String, CaseIterable {
    case system, nss, java
}

package enum TrustStoreObstacle: Equatable {
    /// Only the superuser may.
    case needsRoot
    case belongsToAnother
    /// The program that changes it is not there.
    case lacks(tool: String, package: String)
}

package enum TrustStorePresence: Equatable {
    case absent
    /// Under Larder's name for it.
    case ours
    /// It stands there, but others have put it there: it is left alone.
    case others
    /// Larder's, and not in all places where it has to be, as after a run that was cut off, or in one where it is not to be any more.
    case halfway
    /// Others have put it there, and not so that it is believed.
    case othersUnbelieved(String)
    /// Another certificate has Larder's name for it, or the store cannot be read.
    case unclear(String)
}

/// What went wrong, for people.
package struct TrustStoreError: Error {
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ tool: Tool, _ outcome: Tool.Outcome) {
        reason = "\(tool.path) exited with \(outcome.code): \(outcome.lastWord)"
    }
}
