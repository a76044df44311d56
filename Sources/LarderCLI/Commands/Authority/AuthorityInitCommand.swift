import ArgumentParser
import CertificateAuthority
import CommandSupport
import LocalCA
import TextCoding

extension AuthorityCommand {
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init", abstract: "Create the CA: a root certificate and its key.",
            discussion:
                """
                No program trusts the new root certificate yet: larder ca install installs the certificate into trust stores, and \
                larder ca export prints it.
                """)

        @Option(
            help: ArgumentHelp(
                "Limit the CA to this domain and all names below it, or to this address or address range. Repeatable. The default is no limit.",
                valueName: "domain"))
        var constrain: [String] = []

        @Option(help: ArgumentHelp("Days until the root certificate expires.", valueName: "days"))
        var days = RootTerms.usualDays

        @OptionGroup var passphrase: PassphraseOption
        @OptionGroup var place: AuthorityPlace

        func validate() throws {
            try AuthorityCommand.check(days: days)
            _ = try AuthorityCommand.constraint(constrain)
        }

        func run() throws {
            ProcessMemorySecrecy.begin()
            let folder = try place.value()
            let secret = try passphrase.value()
            let constraint = try AuthorityCommand.constraint(constrain)
            let authority = try AuthorityCommand.made(RootTerms.ofThisMachine(days: days, constraint: constraint))
            try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                try folder.begin(authority, passphrase: secret)
            }
            Terminal.output(AuthorityReport(authority.root, isConstrained: constraint).text(at: AuthorityCommand.now))
            Terminal.talk("larder: the key is in \(printable(folder.keyPath(.current), limit: 4096))\n")
            if constraint == nil {
                Terminal.talk(
                    "larder: anyone who has the key can impersonate any host; --constrain limits a root certificate to some hosts\n"
                )
            }
        }
    }
}
