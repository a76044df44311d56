internal import CLarderOpenSSL

/// A private key. Descriptions and errors never contain it.
///
/// Any thread may use it: it is not changed after it was read or generated.
package struct PrivateKey: Sendable {
    /// Why a text is not a usable key. The errors contain nothing of the text.
    package enum Fault: Error, Equatable, Sendable {
        case unreadable
        case passphraseMissing
        case passphraseWrong
    }

    private let object: OwnedObject

    /// - Parameter pointer: an `EVP_PKEY` that this object now owns.
    package init(owning pointer: OpaquePointer) {
        object = OwnedObject(pointer) { EVP_PKEY_free($0) }
    }

    /// - Parameters:
    ///   - text: PEM; the first key is read.
    ///   - passphrase: for an encrypted key.
    package init(pem text: [UInt8], passphrase: [UInt8]? = nil) throws(Fault) {
        var asked = Asked(passphrase: passphrase)
        let pointer = ErrorQueue.unchanged {
            text.withUnsafeBytes { text in
                withUnsafeMutablePointer(to: &asked) { asked in
                    let bio = BIO_new_mem_buf(text.baseAddress, Int32(clamping: text.count))
                    defer { BIO_free(bio) }
                    return PEM_read_bio_PrivateKey(bio, nil, answersForPassphrase, asked)
                }
            }
        }
        if let pointer {
            self.init(owning: pointer)
            return
        }
        guard asked.wasAsked else { throw .unreadable }
        throw passphrase == nil ? .passphraseMissing : .passphraseWrong
    }

    package var pointer: OpaquePointer { object.pointer }

    package func isKey(of certificate: Certificate) -> Bool {
        ErrorQueue.unchanged { X509_check_private_key(certificate.pointer, pointer) == 1 }
    }

    /// The argument of OpenSSL's passphrase callback.
    private struct Asked {
        let passphrase: [UInt8]?
        var wasAsked = false
    }

    fileprivate static func answer(
        _ buffer: UnsafeMutablePointer<CChar>, _ size: Int32, _ asked: UnsafeMutableRawPointer
    ) -> Int32 {
        let asked = asked.assumingMemoryBound(to: Asked.self)
        asked.pointee.wasAsked = true
        guard let passphrase = asked.pointee.passphrase, passphrase.count <= Int(size) else { return -1 }
        UnsafeMutableRawPointer(buffer).copyMemory(from: passphrase, byteCount: passphrase.count)
        return Int32(passphrase.count)
    }
}

private func answersForPassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ asked: UnsafeMutableRawPointer?
) -> Int32 {
    guard let buffer, let asked else { return -1 }
    return PrivateKey.answer(buffer, size, asked)
}
