import ServerTrust
import TestSupport
import Testing

@Suite("Client certificates")
struct ClientIdentityTests {
    private let files = TestAuthority().clientFiles()
    private let locked = TestAuthority().clientFiles(passphrase: "open sesame")

    @Test("PEM and PKCS #12 files are read, with and without a passphrase")
    func reads() throws {
        let passphrase = Array("open sesame".utf8)
        let read = try [
            ClientIdentity(pem: files.certificate, key: files.key),
            ClientIdentity(pkcs12: files.pkcs12),
            ClientIdentity(pem: files.certificate + files.key, key: files.certificate + files.key),
        ]
        let certificate = try #require(Certificate.reading(pem: files.certificate)?.first)
        for identity in read { #expect(identity.certificates == [certificate]) }
        let opened = try [
            ClientIdentity(pem: locked.certificate, key: locked.key, passphrase: passphrase),
            ClientIdentity(pkcs12: locked.pkcs12, passphrase: passphrase),
        ]
        #expect(opened.allSatisfy { $0.certificates == Certificate.reading(pem: locked.certificate) })
    }

    @Test("Unreadable files, a wrong passphrase and another certificate's key are each refused with their own reason")
    func refuses() {
        func fault(_ make: () throws(ClientIdentity.Fault) -> ClientIdentity) -> ClientIdentity.Fault? {
            do throws(ClientIdentity.Fault) {
                _ = try make()
                return nil
            } catch { return error }
        }
        let wrong = Array("wrong".utf8)
        let files = files
        let locked = locked
        #expect(
            fault { () throws(ClientIdentity.Fault) in try ClientIdentity(pem: [], key: files.key) } == .unreadableCertificate)
        #expect(
            fault { () throws(ClientIdentity.Fault) in try ClientIdentity(pem: files.certificate, key: files.certificate) }
                == .unreadableKey)
        #expect(
            fault { () throws(ClientIdentity.Fault) in try ClientIdentity(pem: files.certificate, key: locked.key) }
                == .passphraseMissing)
        #expect(
            fault { () throws(ClientIdentity.Fault) in
                try ClientIdentity(pem: locked.certificate, key: locked.key, passphrase: wrong)
            } == .passphraseWrong)
        let other = TestAuthority().clientFiles()
        #expect(
            fault { () throws(ClientIdentity.Fault) in try ClientIdentity(pem: files.certificate, key: other.key) }
                == .keyOfAnother)
        #expect(fault { () throws(ClientIdentity.Fault) in try ClientIdentity(pkcs12: files.key) } == .unreadableArchive)
        for archive in [files.unsealedPKCS12, locked.unsealedPKCS12] {
            #expect(fault { () throws(ClientIdentity.Fault) in try ClientIdentity(pkcs12: archive) } == .unreadableArchive)
        }
        #expect(fault { () throws(ClientIdentity.Fault) in try ClientIdentity(pkcs12: locked.pkcs12) } == .passphraseMissing)
        #expect(
            fault { () throws(ClientIdentity.Fault) in try ClientIdentity(pkcs12: locked.pkcs12, passphrase: wrong) }
                == .passphraseWrong)
        #expect(
            fault { () throws(ClientIdentity.Fault) in try ClientIdentity(pkcs12: locked.pkcs12, passphrase: wrong + [0]) }
                == .passphraseWrong)
    }
}
