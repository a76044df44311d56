import ArgumentParser
import CertificateAuthority
import CommandSupport
import LocalCA
import TextCoding

extension AuthorityCommand {
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init", abstract: "Makes the authority: a root and its key.",
            discussion: "Nobody believes it yet: larder ca install puts the root where programs look, larder ca export prints it."
        )

        @Option(
            help: ArgumentHelp(
                "A domain, with everything below it, or an address or range, for which alone it can certify; repeatable.",
                valueName: "domain"))
        var constrain: [String] = []

        @Option(help: ArgumentHelp("How long the root is good for.", valueName: "days"))
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
            Terminal.talk("larder: the key stands in \(printable(folder.keyPath(.current), limit: 4096))\n")
            if constraint == nil {
                Terminal.talk("larder: whoever has it can pretend to be any host; --constrain makes a root for some alone\n")
            }
        }
    }
}
