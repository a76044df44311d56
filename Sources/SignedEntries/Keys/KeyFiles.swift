internal import HTTPMessage
internal import ServerTrust

/// Why the text of a key file is wrong. Messages name the line and never contain a key.
package struct KeyFileFault: Error, Equatable, Sendable {
    package let line: Int
    package let reason: String

    init(_ line: Int, _ reason: String) {
        self.line = line
        self.reason = reason
    }
}

/// The texts of the three key files. Each has a first line with its kind and version; `#` begins a comment.
///
///     larder-farm-key 1
///     farm 0f1e…                                        32 hexadecimal digits
///     key MC4C… from 2026-11-29T07:00:00.000Z           a secret of 32 bytes in base64
///
///     larder-signing-key 1
///     key nWGx… from 2026-11-29T07:00:00.000Z           an Ed25519 private key (RFC 8032 §5.1.5) in base64
///
///     larder-trusted-keys 1
///     trust 11qY… builder-1                             an Ed25519 public key in base64, and a label
///     revoke 3b6a…                                      32 hexadecimal digits: the id of a key
package enum KeyFiles {
    /// The bytes of a key file.
    package static let lengthLimit = 64 << 10
    static let keyLimit = 64
    static let signerLimit = 512

    package static func farmKeys(_ text: [UInt8]) throws(KeyFileFault) -> FarmKeys {
        var farm: FarmID?
        var keys: [FarmKey] = []
        for line in try lines(text, kind: "larder-farm-key") {
            switch (line.words[0], line.words.count) {
            case ("farm", 2):
                guard farm == nil else { throw KeyFileFault(line.number, "a second farm") }
                farm = Hexadecimal.decode(line.words[1]).flatMap { FarmID($0) }
                if farm == nil { throw KeyFileFault(line.number, "the farm must have 32 hexadecimal digits") }
            case ("key", 4):
                guard let key = FarmKey(try line.secret(), start: try line.start()) else {
                    throw KeyFileFault(line.number, "the key must have 32 bytes in base64")
                }
                guard !keys.contains(where: { $0.id == key.id }) else { throw KeyFileFault(line.number, "the same key again") }
                keys.append(key)
            default: throw line.isUnknown("`farm ID` or `key BASE64 from TIME`")
            }
        }
        guard let farm else { throw KeyFileFault(1, "the line `farm ID` is missing") }
        guard keys.count <= keyLimit else { throw KeyFileFault(1, "more than \(keyLimit) keys") }
        guard let result = FarmKeys(farm: farm, keys: keys) else { throw KeyFileFault(1, "there is no key") }
        return result
    }

    package static func signingKeys(_ text: [UInt8]) throws(KeyFileFault) -> EntrySigningKeys {
        var keys: [EntrySigningKey] = []
        for line in try lines(text, kind: "larder-signing-key") {
            guard line.words[0] == "key", line.words.count == 4 else { throw line.isUnknown("`key BASE64 from TIME`") }
            guard let key = EntrySigningKey(seed: try line.secret(), start: try line.start()) else {
                throw KeyFileFault(line.number, "the key must have 32 bytes in base64")
            }
            keys.append(key)
        }
        guard keys.count <= keyLimit else { throw KeyFileFault(1, "more than \(keyLimit) keys") }
        guard let result = EntrySigningKeys(keys) else { throw KeyFileFault(1, "there is no key") }
        return result
    }

    package static func trustedSigners(_ text: [UInt8]) throws(KeyFileFault) -> TrustedSigners {
        var signers: [TrustedSigners.Signer] = []
        var revoked: [SignerID] = []
        for line in try lines(text, kind: "larder-trusted-keys") {
            switch (line.words[0], line.words.count) {
            case ("trust", 2...3):
                guard let key = Base64.decode(Array(line.words[1].utf8)), key.count == Ed25519.keyLength else {
                    throw KeyFileFault(line.number, "the public key must have 32 bytes in base64")
                }
                let label = line.words.count == 3 ? line.words[2] : ""
                signers.append(TrustedSigners.Signer(publicKey: key, label: label))
            case ("revoke", 2):
                guard let id = SignerID(line.words[1]) else {
                    throw KeyFileFault(line.number, "the id of a key must have 32 hexadecimal digits")
                }
                revoked.append(id)
            default: throw line.isUnknown("`trust BASE64 [LABEL]` or `revoke ID`")
            }
        }
        guard signers.count <= signerLimit, revoked.count <= signerLimit else {
            throw KeyFileFault(1, "more than \(signerLimit) trusted or revoked keys")
        }
        return TrustedSigners(signers, revoked: revoked)
    }

    // MARK: Writing

    package static func text(_ keys: FarmKeys) -> String {
        """
        # The secret of a farm of Larders (docs/farm-keys.md). Every node needs this file, and no one else may read it.
        larder-farm-key 1
        farm \(keys.farm)

        """ + keys.keys.map { "# \($0.id)\nkey \(Base64.encode($0.secret)) from \(RFC3339Time.text($0.start))\n" }.joined()
    }

    /// - Returns: `nil` if OpenSSL fails.
    package static func text(_ keys: EntrySigningKeys) -> String? {
        var text = """
            # The private key of a node that writes to the shared store (docs/farm-keys.md). No one else may read this file.
            larder-signing-key 1

            """
        for key in keys.keys {
            guard let seed = key.seed else { return nil }
            text += "# \(key.id)\nkey \(Base64.encode(seed)) from \(RFC3339Time.text(key.start))\n"
        }
        return text
    }

    package static func text(_ trusted: TrustedSigners) -> String {
        """
        # The public keys of the nodes that may write to the shared store (docs/farm-keys.md). Every node needs this file.
        larder-trusted-keys 1

        """
            + trusted.signers.map {
                "# \($0.id)\ntrust \(Base64.encode($0.publicKey))\($0.label.isEmpty ? "" : " \($0.label)")\n"
            }.joined() + trusted.revoked.map { "revoke \($0)\n" }.joined()
    }

    /// Whether a text can be the label of a key: 1 to 64 letters, digits, `.`, `-`, `_` and `@`.
    package static func isLabel(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { ASCII.isDigit($0) || ASCII.isAlpha($0) || ".-_@".utf8.contains($0) }
    }

    // MARK: Reading lines

    private struct Line {
        let number: Int
        let words: [String]

        /// The second word: 32 bytes in base64.
        func secret() throws(KeyFileFault) -> [UInt8] {
            guard let octets = Base64.decode(Array(words[1].utf8)) else { throw KeyFileFault(number, "the key is not base64") }
            return octets
        }

        /// The time after `from`.
        func start() throws(KeyFileFault) -> Timestamp {
            guard words[2] == "from", let time = RFC3339Time.read(words[3]), time.milliseconds >= 0 else {
                throw KeyFileFault(number, "after the key, there must be `from` and a time, such as 2026-11-29T07:00:00.000Z")
            }
            return time
        }

        func isUnknown(_ expected: String) -> KeyFileFault { KeyFileFault(number, "the line must have the form \(expected)") }
    }

    /// The lines with words, after the line with the kind and the version.
    private static func lines(_ text: [UInt8], kind: String) throws(KeyFileFault) -> [Line] {
        guard text.count <= lengthLimit else { throw KeyFileFault(1, "the file has more than \(lengthLimit >> 10) KiB") }
        guard let text = String(validating: text, as: UTF8.self), !text.utf8.contains(0) else {
            throw KeyFileFault(1, "the file is not text in UTF-8")
        }
        var lines: [Line] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init)
            if words.isEmpty || words[0].hasPrefix("#") { continue }
            lines.append(Line(number: index + 1, words: words))
        }
        guard let first = lines.first, first.words[0] == kind else {
            throw KeyFileFault(lines.first?.number ?? 1, "the first line must be `\(kind) 1`")
        }
        guard first.words == [kind, "1"] else {
            throw KeyFileFault(first.number, "the file has another version than this Larder reads")
        }
        return Array(lines.dropFirst())
    }
}
