import CertificateAuthority
import Foundation

/// Why a CA's folder cannot be used, as the text after `larder: `. The text reveals nothing of a key's content.
package struct AuthorityFolderError: Error, Equatable {
    package let reason: String
    /// Whether the key is encrypted, no passphrase was given, and no other problem is known.
    let isPassphraseMissing: Bool

    package init(_ reason: String) {
        self.reason = reason
        isPassphraseMissing = false
    }

    static func missing(_ path: String) -> AuthorityFolderError {
        AuthorityFolderError("there is no CA in \(path); `larder ca init` creates one")
    }

    static func system(_ path: String, _ code: Int32 = errno) -> AuthorityFolderError {
        AuthorityFolderError("\(path): \(String(cString: strerror(code)))")
    }

    /// - Parameters:
    ///   - root, key: the paths of the root's and the key's file.
    init(_ fault: AuthorityFault, root: String, key: String) {
        isPassphraseMissing = fault == .passphraseMissing
        reason =
            switch fault {
            case .unreadableCertificate: "\(root) does not contain exactly one certificate in PEM"
            case .unreadableKey: "\(key) is not a private key in PEM"
            case .passphraseMissing: "\(key) is encrypted; give --passphrase-file"
            case .passphraseWrong: "\(key): the passphrase is wrong, or the file is damaged"
            case .keyOfAnother: "\(key) does not belong to \(root)"
            case .notP256: "\(key) is not a P-256 key"
            case .notAnAuthority: "\(root) is not a CA certificate, or its validity dates are unreadable"
            case .noKeyIdentifier: "\(root) has no subject key identifier"
            case .unknownConstraint: "\(root) has name constraints that were not written by Larder"
            case .cryptographyFailed: "OpenSSL failed"
            }
    }
}
