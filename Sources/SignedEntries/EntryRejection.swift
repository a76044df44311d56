/// Why an entry of the shared store is treated as absent. Metrics, the log and docs/farm-keys.md use the words of this list.
package enum EntryRejection: String, Error, CaseIterable, Sendable {
    /// The entry has another version than this program reads.
    case version
    /// The bytes do not have the form of an entry: truncated, too long, or damaged.
    case malformed
    /// The entry, or a part of it, is beyond a limit.
    case tooLarge = "too_large"
    /// The entry is of another farm.
    case otherFarm = "other_farm"
    /// The entry was stored under another key.
    case otherKey = "other_key"
    /// No trusted key has signed the entry.
    case unknownSigner = "unknown_signer"
    /// The key that has signed the entry was revoked.
    case revokedSigner = "revoked_signer"
    /// The signature is wrong, or the entry is not one of those that were signed.
    case signature
    /// The entry was signed more than the allowed time ago.
    case tooOld = "too_old"
    /// The clocks of this node and of the writer differ by more than ten minutes.
    case clock
    /// The farm has begun a new epoch since the entry was written.
    case otherEpoch = "other_epoch"
    /// The entry is older than a purge whose extent is no longer known.
    case oldGeneration = "old_generation"
    /// The entry is encrypted with a farm key that this node does not have.
    case unknownFarmKey = "unknown_farm_key"
    /// The entry cannot be decrypted.
    case decryption
    /// The signer should not have shared this response.
    case notShareable = "not_shareable"
    /// A piece of the body is absent.
    case bodyMissing = "body_missing"
    /// A piece of the body differs from what was signed.
    case bodyDamaged = "body_damaged"
}
