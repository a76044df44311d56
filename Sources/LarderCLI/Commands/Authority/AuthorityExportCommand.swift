import ArgumentParser
import CertificateAuthority
import CommandSupport
import Foundation
import LocalCA
import ServerTrust

extension AuthorityCommand {
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Print the root certificate for programs that should trust it. This command never prints the key.",
            discussion: """
                During a rotation, pem and pkcs12 contain both root certificates, and der contains the current one. pkcs12 is a \
                Java trust store \
                (-Djavax.net.ssl.trustStore=FILE) with the password changeit; it contains no secret.
                """)

        enum Format: String, CaseIterable, ExpressibleByArgument { case pem, der, pkcs12 }

        @Option(name: [.short, .long], help: "The format: pem, der or pkcs12.")
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
