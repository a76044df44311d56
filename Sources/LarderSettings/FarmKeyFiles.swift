import CommandSupport
import SignedEntries

/// The paths of the key files of a farm (docs/farm-keys.md).
package struct FarmKeyPaths: Equatable, Sendable {
    /// The farm keys: every node.
    package var farm: String
    /// The public keys whose entries the node uses: every node.
    package var trusted: String
    /// The private keys that sign entries; `nil` on a node that only reads.
    package var signing: String?

    package init(farm: String, trusted: String, signing: String?) {
        self.farm = farm
        self.trusted = trusted
        self.signing = signing
    }

    /// The usual names in one folder.
    package init(folder: String) {
        self.init(farm: "\(folder)/farm.key", trusted: "\(folder)/trusted.keys", signing: "\(folder)/signing.key")
    }
}

/// Why a key file cannot be used. Messages never contain a key.
package struct FarmKeysUnusable: Error, Equatable, Sendable {
    package let path: String
    /// The line of the mistake; `nil` if the file cannot be read.
    package let line: Int?
    package let reason: String

    package var message: String { line.map { "\(path):\($0): \(reason)" } ?? "cannot read \(path): \(reason)" }
}

/// The keys of a farm, as read from their files.
package struct FarmKeyFiles: Sendable {
    package let farm: FarmKeys
    package let trusted: TrustedSigners
    /// `nil` on a node that only reads.
    package let signing: EntrySigningKeys?

    /// Reads the files. Files with secrets must be readable only by their owner, and the list of trusted keys must be writable only by its
    /// owner.
    package init(_ paths: FarmKeyPaths) throws(FarmKeysUnusable) {
        farm = try Self.farmKeys(at: paths.farm)
        trusted = try Self.trustedSigners(at: paths.trusted)
        guard let path = paths.signing else {
            signing = nil
            return
        }
        let keys = try Self.signingKeys(at: path)
        // Other nodes would refuse all entries of such a key, so the mistake is reported here.
        for key in keys.keys {
            do throws(EntryRejection) {
                _ = try trusted.signer(key.id)
            } catch {
                let reason = error == .revokedSigner ? "is revoked" : "is not listed as trusted"
                throw FarmKeysUnusable(path: path, line: nil, reason: "the key \(key.id) \(reason) in \(paths.trusted)")
            }
        }
        signing = keys
    }

    package static func farmKeys(at path: String) throws(FarmKeysUnusable) -> FarmKeys {
        try read(path, LocalFile.secretBytes, KeyFiles.farmKeys).value
    }

    package static func signingKeys(at path: String) throws(FarmKeysUnusable) -> EntrySigningKeys {
        try read(path, LocalFile.secretBytes, KeyFiles.signingKeys).value
    }

    package static func trustedSigners(at path: String) throws(FarmKeysUnusable) -> TrustedSigners {
        try read(path, LocalFile.guardedBytes, KeyFiles.trustedSigners).value
    }

    /// Reads a file for a change: also returns its bytes, to notice a change by another program.
    package static func read<Value>(
        _ path: String, _ load: (String, Int) throws(LocalFile.Unreadable) -> [UInt8],
        _ parse: ([UInt8]) throws(KeyFileFault) -> Value
    ) throws(FarmKeysUnusable) -> (value: Value, bytes: [UInt8]) {
        let bytes: [UInt8]
        do throws(LocalFile.Unreadable) {
            bytes = try load(path, KeyFiles.lengthLimit)
        } catch {
            throw FarmKeysUnusable(path: path, line: nil, reason: error.reason)
        }
        do throws(KeyFileFault) {
            return (try parse(bytes), bytes)
        } catch {
            throw FarmKeysUnusable(path: path, line: error.line, reason: error.reason)
        }
    }
}
