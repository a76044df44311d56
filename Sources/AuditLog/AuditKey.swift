import Glibc
import HTTPMessage
import ServerTrust

/// Why the audit log cannot be used, for a message "cannot write the audit log: REASON".
package struct AuditLogUnusable: Error {
    package let reason: String
    init(_ reason: String) { self.reason = reason }
    init(_ path: String, code: Int32) { reason = "\(path): \(String(cString: strerror(code)))" }
}

/// The Ed25519 key that seals the audit logs of a user. It is in the state folder, readable only by its owner.
struct AuditKey: Sendable {
    let key: PrivateKey
    /// The public key in the encoding of RFC 8032 §5.1.5.
    let publicKey: [UInt8]
    /// SHA-256 of the public key, in hexadecimal: the member `key` of seals.
    let name: String

    /// Reads the key of the folder, or generates one.
    init(folder: String) throws(AuditLogUnusable) {
        let path = AuditFolder.keyPath(folder)
        do throws(SmallFile.Failure) {
            self = try Self.read(path)
        } catch {
            guard error.code == ENOENT else { throw AuditLogUnusable("\(path): \(error.reason)") }
            self = try Self.made(path)
        }
        try keepPublicKey(in: folder)
    }

    private init(_ key: PrivateKey, _ publicKey: [UInt8]) {
        self.key = key
        self.publicKey = publicKey
        name = Self.name(of: publicKey)
    }

    static func name(of publicKey: [UInt8]) -> String { Hexadecimal.encode(SHA256Digest(of: publicKey).octets) }

    private static func read(_ path: String) throws(SmallFile.Failure) -> AuditKey {
        let text = try SmallFile.read(path, isSecret: true)
        guard let key = try? PrivateKey(pem: text), let publicKey = Ed25519.publicKey(of: key) else {
            throw SmallFile.Failure(reason: "not an Ed25519 key in PEM")
        }
        return AuditKey(key, publicKey)
    }

    private static func made(_ path: String) throws(AuditLogUnusable) -> AuditKey {
        guard let key = Ed25519.newKey(), let publicKey = Ed25519.publicKey(of: key), let text = Ed25519.pem(of: key) else {
            throw AuditLogUnusable("OpenSSL cannot generate an Ed25519 key")
        }
        do throws(SmallFile.Failure) {
            do throws(SmallFile.Failure) {
                try SmallFile.write(Array(text.utf8), to: path, mode: 0o600, replaces: false)
            } catch {
                // Another Larder of this user has just generated the key.
                if error.code == EEXIST { return try read(path) }
                throw error
            }
        } catch {
            throw AuditLogUnusable("\(path): \(error.reason)")
        }
        return AuditKey(key, publicKey)
    }

    /// Writes the public key beside the key, for `larder log verify`, unless it is there.
    private func keepPublicKey(in folder: String) throws(AuditLogUnusable) {
        let path = AuditFolder.publicKeyPath(folder)
        if let found = try? SmallFile.read(path), Ed25519.publicKey(pem: found) == publicKey { return }
        guard let text = Ed25519.publicPEM(of: key) else { throw AuditLogUnusable("OpenSSL cannot write the public key") }
        do throws(SmallFile.Failure) {
            try SmallFile.write(Array(text.utf8), to: path, mode: 0o644)
        } catch {
            throw AuditLogUnusable("\(path): \(error.reason)")
        }
    }
}

/// The folder of the audit logs' key and seals.
package enum AuditFolder {
    /// - Parameter state: the user's state folder.
    package static func path(inState state: String) -> String { "\(state)/audit" }
    static func keyPath(_ folder: String) -> String { "\(folder)/key.pem" }
    package static func publicKeyPath(_ folder: String) -> String { "\(folder)/public.pem" }

    /// The file with the newest seal of the log at this absolute path.
    static func sealPath(_ folder: String, of path: String) -> String {
        "\(folder)/\(Hexadecimal.encode(SHA256Digest(of: Array(path.utf8)).octets.prefix(16))).seal"
    }

    /// Creates the folder, with the folders above it, for its owner alone.
    static func create(_ folder: String) throws(AuditLogUnusable) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            if mkdir(path, 0o700) != 0, errno != EEXIST, errno != EISDIR {
                let code = errno
                var facts = stat()
                if stat(path, &facts) != 0 { throw AuditLogUnusable(path, code: code) }
            }
        }
    }
}
