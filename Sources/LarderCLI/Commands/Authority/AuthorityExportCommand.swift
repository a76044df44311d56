import ArgumentParser
import CertificateAuthority
import CommandSupport
import Foundation
import LocalCA
import ServerTrust

extension AuthorityCommand {
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Prints the root for programs that are to believe it; never the key.",
            discussion: """
                While a rotation is under way pem and pkcs12 have both roots, and der has the one that certifies. pkcs12 is a trust \
                store of Java's (-Djavax.net.ssl.trustStore=FILE) with the password changeit: it has nothing secret in it.
                """)

        enum Format: String, CaseIterable, ExpressibleByArgument { case pem, der, pkcs12 }

        @Option(name: [.short, .long], help: "pem, der or pkcs12.")
        var format = Format.pem

        @OptionGroup var place: AuthorityPlace

        func run() throws {
            let folder = try place.value()
            let roots = try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                try folder.roots(at: AuthorityCommand.now)
            }
            let certificates = roots.all.map(\.certificate)
            switch format {
            case .pem: Terminal.output(certificates.map(\.pem).joined())
            case .der: Terminal.output(bytes: roots.signing.certificate.der[...])
            case .pkcs12:
                if certificates.contains(where: { RootEntry($0).isConstrained }) {
                    Terminal.talk("larder: warning: \(RootEntry.javaLimit)\n")
                }
                let entries = certificates.map { (alias: RootEntry($0).name, certificate: $0) }
                guard let octets = TrustStoreArchive.octets(of: entries) else { throw AuthorityCommand.refuse("OpenSSL failed") }
                Terminal.output(bytes: octets[...])
            }
        }
    }
}
