import ArgumentParser
import CertificateAuthority
import CommandSupport
import LocalCA
import ServerTrust
import TextCoding

extension AuthorityCommand {
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate", abstract: "Makes the next root beside the one there is, and puts it in its place later.",
            discussion: """
                Until the day the old root goes on certifying, so that there is time for everybody to be given the next one: install \
                and export hand out both. From that day on the next one certifies. --finish, then or at once (a key that was \
                stolen), deletes the old key.
                """)

        @Option(
            help: ArgumentHelp(
                "The day on which the next root takes over, like 2027-01-31; in 30 days if not said.", valueName: "day"))
        var from: String?

        @Flag(help: "The next root takes the place of the old one now, whose key is deleted.")
        var finish = false

        @Option(
            help: ArgumentHelp(
                "For whom alone the next root can certify, as for init; as the old one if not said.", valueName: "domain"))
        var constrain: [String] = []

        @Flag(help: "The next root is for every host.")
        var unconstrained = false

        @Option(help: ArgumentHelp("How long the next root is good for.", valueName: "days"))
        var days = RootTerms.usualDays

        @OptionGroup var passphrase: PassphraseOption
        @OptionGroup var place: AuthorityPlace

        private static let usualWait: Int64 = 30 * 86_400

        func validate() throws {
            try AuthorityCommand.check(days: days)
            _ = try AuthorityCommand.constraint(constrain)
            if unconstrained, !constrain.isEmpty { throw ValidationError("--constrain or --unconstrained, not both.") }
            if finish, from != nil || unconstrained || !constrain.isEmpty || passphrase.passphraseFile != nil {
                throw ValidationError("--finish makes no root: nothing is said of one beside it.")
            }
            if let from {
                guard let day = CalendarDay(from) else {
                    throw ValidationError("--from \(printable(from)): is no day like 2027-01-31")
                }
                guard day.firstSecond > AuthorityCommand.now else { throw ValidationError("--from \(from): has begun already") }
            }
        }

        func run() throws {
            ProcessMemorySecrecy.begin()
            let folder = try place.value()
            if finish { return try end(in: folder) }
            let now = AuthorityCommand.now
            let roots = try AuthorityCommand.reading { () throws(AuthorityFolderError) in try folder.roots(at: now) }
            let secret = try passphrase.value()
            let current = roots.signing.certificate
            let day = from.flatMap { CalendarDay($0) } ?? CalendarDay(of: POSIXTime(seconds: now.seconds + Self.usualWait))
            let next = try AuthorityCommand.made(RootTerms.ofThisMachine(days: days, constraint: nextConstraint(after: current)))
            guard let last = next.root.notAfter, day.firstSecond < last else {
                throw AuthorityCommand.refuse("the next root would end before \(day)")
            }
            try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                try folder.beginRotation(to: next, passphrase: secret, from: day)
            }
            Terminal.output(AuthorityReport(next.root, isConstrained: next.constraint).text(at: now))
            Terminal.talk("larder: it takes over on \(day); larder ca install and larder ca export hand out both until then\n")
            if let last = current.notAfter, last < day.firstSecond {
                Terminal.talk("larder: warning: the old root ends before that, on \(CalendarDay(of: last))\n")
            }
        }

        private func nextConstraint(after current: Certificate) throws -> NameConstraint? {
            if unconstrained { return nil }
            if let given = try AuthorityCommand.constraint(constrain) { return given }
            do throws(AuthorityFault) {
                return try NameConstraint.read(of: current)
            } catch {
                throw AuthorityCommand.refuse("the old root's constraints are not Larder's; say --constrain or --unconstrained")
            }
        }

        private func end(in folder: AuthorityFolder) throws {
            try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                try folder.finishRotation(at: AuthorityCommand.now)
            }
            Terminal.talk(
                "larder: the next root is in its place, and the old key is deleted; larder ca uninstall --former takes the old root out of stores\n"
            )
        }
    }
}
