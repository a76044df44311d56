import ArgumentParser
import CertificateAuthority
import CommandSupport
import LocalCA
import ServerTrust
import TextCoding

extension AuthorityCommand {
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the root certificate, its limits and dates; exits with 1 if the CA cannot issue certificates.",
            discussion:
                "This command also checks that the key belongs to the root certificate, and that no other user can read it.")

        @OptionGroup var format: OutputOption

        @OptionGroup var passphrase: PassphraseOption
        @OptionGroup var place: AuthorityPlace

        func run() throws {
            ProcessMemorySecrecy.begin()
            let folder = try place.value()
            let secret = try passphrase.value()
            let now = AuthorityCommand.now
            let roots = try AuthorityCommand.reading { () throws(AuthorityFolderError) in try folder.roots(at: now) }
            var lines = ""
            var members: [JSONText] = []
            for root in roots.all {
                let isLocked = try AuthorityCommand.reading { () throws(AuthorityFolderError) in
                    try folder.isLocked(root.seat, passphrase: secret)
                }
                let report = try report(root.certificate, in: folder)
                let part = role(of: root, in: roots)
                lines += report.text(at: now)
                lines +=
                    "  key     \(printable(folder.keyPath(root.seat), limit: 4096))\(isLocked ? " (encrypted, not opened)" : "")\n"
                if let turn = roots.turn { lines += "  rotation  \(part) on \(turn)\n" }
                members.append(
                    .object(
                        report.members(at: now) + [
                            ("key", .string(folder.keyPath(root.seat))), ("key_opened", .bool(!isLocked)),
                            ("signs", .bool(root.seat == roots.signing.seat)),
                        ]))
            }
            switch format.output {
            case .text: Terminal.output(lines)
            case .json:
                let turn = roots.turn.map { JSONText.string($0.description) } ?? .null
                Terminal.output(JSONText.object([("roots", .array(members)), ("turn", turn)]).written() + "\n")
            }
            if try !report(roots.signing.certificate, in: folder).isActive(at: now) {
                throw AuthorityCommand.refuse(
                    "the root certificate is not valid now, so programs would reject the certificates it issues")
            }
        }

        private func role(of root: AuthorityFolder.Seated, in roots: AuthorityFolder.Roots) -> String {
            let isSigning = root.seat == roots.signing.seat
            switch root.seat {
            case .current:
                return isSigning ? "is replaced by the next root certificate" : "was replaced by the next root certificate"
            case .next: return isSigning ? "replaced the old root certificate" : "replaces the old root certificate"
            }
        }

        private func report(_ root: Certificate, in folder: AuthorityFolder) throws(ExitCode) -> AuthorityReport {
            do throws(AuthorityFault) {
                return AuthorityReport(root, isConstrained: try NameConstraint.read(of: root))
            } catch {
                throw AuthorityCommand.refuse(
                    "the root certificate in \(folder.path) has name constraints that were not written by Larder")
            }
        }
    }
}
