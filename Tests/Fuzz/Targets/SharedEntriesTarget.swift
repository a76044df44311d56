import HTTPMessage
import SignedEntries

extension FuzzTarget {
    /// The first byte selects what is read: an entry as an engine holds it, its payload, or one of the key files. An entry that no trusted key
    /// has signed is never opened. What is understood is the same after it was written and read again.
    package static let sharedEntries = FuzzTarget("SharedEntries") { bytes in
        guard let first = bytes.first else { return nil }
        let rest = Array(bytes.dropFirst())
        switch first % 5 {
        case 0: return entry(rest)
        case 1: return PayloadCoding.isStable(rest) ? nil : "a payload is a different one after it was written and read"
        case 2:
            guard let keys = try? KeyFiles.farmKeys(rest) else { return nil }
            let text = KeyFiles.text(keys)
            guard let again = try? KeyFiles.farmKeys(Array(text.utf8)) else { return "written farm keys are not read" }
            return KeyFiles.text(again) == text ? nil : "farm keys are different after they were written and read"
        case 3:
            guard let keys = try? KeyFiles.signingKeys(rest) else { return nil }
            guard let text = KeyFiles.text(keys), let again = try? KeyFiles.signingKeys(Array(text.utf8)) else {
                return "written signing keys are not read"
            }
            return KeyFiles.text(again) == text ? nil : "signing keys are different after they were written and read"
        default:
            guard let trusted = try? KeyFiles.trustedSigners(rest) else { return nil }
            let text = KeyFiles.text(trusted)
            guard let again = try? KeyFiles.trustedSigners(Array(text.utf8)) else { return "written trusted keys are not read" }
            return KeyFiles.text(again) == text ? nil : "trusted keys are different after they were written and read"
        }
    }

    private static func entry(_ bytes: [UInt8]) -> String? {
        guard let keys = try? KeyFiles.farmKeys(Array(farmFile.utf8)),
            let trusted = try? KeyFiles.trustedSigners(Array(trustedFile.utf8))
        else { return "the target's own key files are not read" }
        let opener = EntryOpener(keys: keys, trusted: trusted)
        let expected = EntryExpectation(key: Array("http://a.example:80/".utf8), epoch: [1], oldestGeneration: 0)
        let now = Timestamp(seconds: 1_795_000_000)
        let isOpened = (try? opener.open(bytes, expected, at: now)) != nil
        if isOpened { return "an entry that nobody signed is opened" }
        let isChain = (try? opener.openChain(bytes, digest: [UInt8](repeating: 0, count: 32))) != nil
        return isChain ? "a chain with another digest is opened" : nil
    }

    /// Keys for this target alone.
    private static let farmFile = """
        larder-farm-key 1
        farm 00000000000000000000000000000000
        key AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= from 2026-11-29T07:00:00.000Z
        """

    /// The public key of RFC 8032 §7.1, test 1.
    private static let trustedFile = """
        larder-trusted-keys 1
        trust 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= test
        """
}
