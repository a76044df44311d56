import LarderSettings
import ServerTrust

/// The rotation of a host's pins: a new key is first a backup, then in use, then retired.
package struct PinRotation: Equatable {
    /// A value in the list `of` or `backup`, and the keys that this value pins.
    package struct Item: Equatable {
        var text: String
        var keys: [SHA256Digest]

        package init(text: String, keys: [SHA256Digest]) {
            self.text = text
            self.keys = keys
        }

        package init(_ key: SHA256Digest) { self.init(text: "\(key)", keys: [key]) }
    }

    package struct Refusal: Error, Equatable { package let reason: String }

    private(set) var live: [Item]
    private(set) var backup: [Item]

    package init(live: [Item], backup: [Item]) {
        self.live = live
        self.backup = backup
    }

    /// Adds keys that are not in use yet as backups.
    package mutating func add(_ keys: [SHA256Digest]) throws(Refusal) {
        for key in keys {
            if contains(key) { throw Refusal(reason: "\(key) is already pinned") }
            backup.append(Item(key))
        }
    }

    /// Removes keys. Backups that the server now sends become pins in use. If no pin in use is left, the first backup becomes one.
    /// - Parameter shown: the keys of the server's chain; empty if unknown.
    package mutating func retire(_ keys: [SHA256Digest], shown: [SHA256Digest]) throws(Refusal) {
        for key in keys where !contains(key) { throw Refusal(reason: "\(key) is not pinned") }
        live = live.flatMap { $0.without(keys) }
        backup = backup.flatMap { $0.without(keys) }
        let used = backup.filter { $0.keys.contains(where: shown.contains) }
        live += used
        backup.removeAll(where: used.contains)
        if live.isEmpty, !backup.isEmpty { live.append(backup.removeFirst()) }
        if live.isEmpty {
            throw Refusal(reason: "no pin would be left: to remove all pins of a host, change its policy in the settings file")
        }
    }

    func contains(_ key: SHA256Digest) -> Bool { (live + backup).contains { $0.keys.contains(key) } }

    /// Why the pins that result are not safe; `nil` if they are.
    /// - Parameter shown: the keys of the server's chain; empty if unknown.
    package func fault(shown: [SHA256Digest]) -> String? {
        if let leaf = shown.first, !shown.contains(where: contains) {
            return
                "the server still uses \(leaf), so all connections would fail: retire a key after the server has switched to the next one"
        }
        let spare = (live + backup).flatMap(\.keys).filter { !shown.contains($0) }
        if backup.isEmpty || spare.isEmpty {
            return "no backup would be left, and the next key change would make all connections fail (RFC 7469 §4.3): "
                + "add a backup with --add"
        }
        return nil
    }

    /// The members of `pins` that change, in the form of the settings.
    package var words: [(key: String, value: ShownValue)] {
        let live = ("of", ShownValue.list(live.map { .text($0.text) }))
        return backup.isEmpty ? [live] : [live, ("backup", .list(backup.map { .text($0.text) }))]
    }
}

extension PinRotation.Item {
    /// A file from which a key is removed is replaced by the digests of the remaining keys.
    fileprivate func without(_ retired: [SHA256Digest]) -> [PinRotation.Item] {
        guard keys.contains(where: retired.contains) else { return [self] }
        return keys.filter { !retired.contains($0) }.map(PinRotation.Item.init)
    }
}
