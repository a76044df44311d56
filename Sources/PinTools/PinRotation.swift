import LarderSettings
import ServerTrust

/// The pins of a host on their way: a new key is a backup first, then in use, then retired.
package struct PinRotation: Equatable {
    /// One value under `of` or `backup`, and the keys that it pins.
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

    /// A key that nobody has seen yet is a backup.
    package mutating func add(_ keys: [SHA256Digest]) throws(Refusal) {
        for key in keys {
            if contains(key) { throw Refusal(reason: "\(key) is already pinned") }
            backup.append(Item(key))
        }
    }

    /// Takes a key out. Whatever key the server shows is in use from now on; where none is left, the first backup is.
    /// - Parameter shown: the keys of the server's chain; empty where they are not known.
    package mutating func retire(_ keys: [SHA256Digest], shown: [SHA256Digest]) throws(Refusal) {
        for key in keys where !contains(key) { throw Refusal(reason: "\(key) is not pinned") }
        live = live.flatMap { $0.without(keys) }
        backup = backup.flatMap { $0.without(keys) }
        let used = backup.filter { $0.keys.contains(where: shown.contains) }
        live += used
        backup.removeAll(where: used.contains)
        if live.isEmpty, !backup.isEmpty { live.append(backup.removeFirst()) }
        if live.isEmpty {
            throw Refusal(reason: "no pin would be left: for a host without pins, change its policy in the settings file")
        }
    }

    func contains(_ key: SHA256Digest) -> Bool { (live + backup).contains { $0.keys.contains(key) } }

    /// Why it should not end so.
    /// - Parameter shown: as above.
    package func fault(shown: [SHA256Digest]) -> String? {
        if let leaf = shown.first, !shown.contains(where: contains) {
            return
                "the server still uses \(leaf), so all connections would fail: retire a key after the server has switched to the next one"
        }
        let spare = (live + backup).flatMap(\.keys).filter { !shown.contains($0) }
        if backup.isEmpty || spare.isEmpty {
            return "no backup would be left, and the next key change would make all connections fail (RFC 7469 §4.3): "
                + "add one with --add"
        }
        return nil
    }

    /// The members of `pins` that it changes, as settings have them.
    package var words: [(key: String, value: ShownValue)] {
        let live = ("of", ShownValue.list(live.map { .text($0.text) }))
        return backup.isEmpty ? [live] : [live, ("backup", .list(backup.map { .text($0.text) }))]
    }
}

extension PinRotation.Item {
    /// A file of which something is taken out becomes the digests of what is left.
    fileprivate func without(_ retired: [SHA256Digest]) -> [PinRotation.Item] {
        guard keys.contains(where: retired.contains) else { return [self] }
        return keys.filter { !retired.contains($0) }.map(PinRotation.Item.init)
    }
}
