import ArgumentParser
import CertificateAuthority
import CommandSupport
import LocalCA
import ServerTrust
import TextCoding

extension AuthorityCommand {
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate", abstract: "Create the next root certificate, which replaces the current one later.",
            discussion: """
                The old root certificate stays in use until the day in --from. Until then, you can distribute the next one: \
                larder ca install and export handle both. From that day on, Larder uses the next one. Run larder ca rotate \
                --finish after that day to delete the old key, or at once if the old key was stolen.
                """)

        @Option(
            help: ArgumentHelp(
                "The day on which the next root certificate replaces the old one, like 2027-01-31. The default is in 30 days.",
                valueName: "day"))
        var from: String?

        @Flag(help: "Let the next root certificate replace the old one now, and delete the old key.")
        var finish = false

        @Option(
            help: ArgumentHelp(
                "Limit the next root certificate, like --constrain of larder ca init. By default, the limits of the old root certificate apply.",
                valueName: "domain"
            ))
        var constrain: [String] = []

        @Flag(help: "Do not limit the next root certificate.")
        var unconstrained = false

        @Option(help: ArgumentHelp("Days until the next root certificate expires.", valueName: "days"))
        var days = RootTerms.usualDays

        @OptionGroup var passphrase: PassphraseOption
        @OptionGroup var place: AuthorityPlace

        private static let usualWait: Int64 = 30 * 86_400

        func validate() throws {
            try AuthorityCommand.check(days: days)
            _ = try AuthorityCommand.constraint(constrain)
            if unconstrained, !constrain.isEmpty { throw ValidationError("Give --constrain or --unconstrained, not both.") }
            if finish, from != nil || unconstrained || !constrain.isEmpty || passphrase.passphraseFile != nil {
                throw ValidationError("--finish creates no root certificate: omit the options for a new root certificate.")
            }
            if let from {
                guard let day = CalendarDay(from) else {
                    throw ValidationError("--from \(printable(from)): expected a date like 2027-01-31")
                }
                guard day.firstSecond > AuthorityCommand.now else {
                    throw ValidationError("--from \(from): this day is not in the future")
                }
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
                throw AuthorityCommand.refuse("the next root certificate would expire before \(day)")
            }
            try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                try folder.beginRotation(to: next, passphrase: secret, from: day)
            }
            Terminal.output(AuthorityReport(next.root, isConstrained: next.constraint).text(at: now))
            Terminal.talk(
                "larder: the next root certificate replaces the current one on \(day); until then, larder ca install and larder ca export use both\n"
            )
            if let last = current.notAfter, last < day.firstSecond {
                Terminal.talk(
                    "larder: warning: the current root certificate expires before \(day), on \(CalendarDay(of: last))\n")
            }
        }

        private func nextConstraint(after current: Certificate) throws -> NameConstraint? {
            if unconstrained { return nil }
            if let given = try AuthorityCommand.constraint(constrain) { return given }
            do throws(AuthorityFault) {
                return try NameConstraint.read(of: current)
            } catch {
                throw AuthorityCommand.refuse(
                    "the constraints of the old root certificate were not written by Larder; give --constrain or --unconstrained")
            }
        }

        private func end(in folder: AuthorityFolder) throws {
            try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                try folder.finishRotation(at: AuthorityCommand.now)
            }
            Terminal.talk(
                "larder: the next root certificate is in use, and the old key is deleted; to remove the old root certificate from trust stores, run larder ca uninstall --former\n"
            )
        }
    }
}
