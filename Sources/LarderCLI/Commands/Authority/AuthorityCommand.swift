import ArgumentParser
import CertificateAuthority
import CommandSupport
import Foundation
import LocalCA
import ProxyAdmin
import ServerTrust
import TextCoding

struct AuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca", abstract: "Create and manage your own certificate authority (CA).",
        discussion: """
            With `connect: intercept`, Larder decrypts https to a host, and applies rules, cache and pins. It presents a certificate from \
            this CA to the client. This works only for programs that trust the CA's root certificate.

              larder ca init --constrain corp.test
              larder ca install
              larder ca status

            The key is in $XDG_DATA_HOME/larder/ca, else ~/.local/share/larder/ca. Only its owner can read it. Anyone who has \
            the key can impersonate hosts to every program that trusts the root certificate. --constrain limits a root certificate to \
            some hosts.

            Exit codes: 0 success, 1 failure, 2 wrong usage.
            """,
        subcommands: [Init.self, Status.self, Install.self, Uninstall.self, Rotate.self, Export.self])
}

/// The option for the CA's folder, the same for every subcommand of `larder ca`.
struct AuthorityPlace: ParsableArguments {
    @Option(help: ArgumentHelp("The CA's folder.", valueName: "folder"))
    var folder: String?

    func validate() throws {
        if folder?.isEmpty == true { throw ValidationError("--folder needs a path") }
    }

    /// - Throws: exit code 1, after reporting that the folder is unknown.
    func value() throws(ExitCode) -> AuthorityFolder {
        if let folder { return AuthorityFolder(path: folder) }
        guard let usual = AuthorityFolder(ProcessInfo.processInfo.environment) else {
            throw AuthorityCommand.refuse("the CA's folder is unknown, because HOME is not set; give --folder")
        }
        return usual
    }
}

/// The passphrase of a key, from a file that only its owner can read.
struct PassphraseOption: ParsableArguments {
    @Option(help: ArgumentHelp("A file whose first line is the passphrase of the key.", valueName: "file"))
    var passphraseFile: String?

    /// - Throws: exit code 1, after reporting the reason; the message contains no part of the passphrase.
    func value() throws(ExitCode) -> [UInt8]? {
        guard let passphraseFile else { return nil }
        return try AuthorityCommand.reading { () throws(AuthorityFolderError) in try PassphraseFile.read(passphraseFile) }
    }
}

extension AuthorityCommand {
    static var now: POSIXTime { POSIXTime(seconds: Int64(Date().timeIntervalSince1970)) }

    static func refuse(_ reason: String) -> ExitCode {
        Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
        return .failure
    }

    /// Reports a problem with the CA's folder, and throws exit code 1.
    static func reading<Value>(_ read: () throws(AuthorityFolderError) -> Value) throws(ExitCode) -> Value {
        do throws(AuthorityFolderError) {
            return try read()
        } catch {
            throw refuse(error.reason)
        }
    }

    /// Parses the items of `--constrain`, and reports an invalid one.
    static func constraint(_ items: [String]) throws -> NameConstraint? {
        if items.isEmpty { return nil }
        do throws(NameConstraint.Fault) {
            return try NameConstraint(items)
        } catch {
            switch error {
            case .count: throw ValidationError("give --constrain at most \(NameConstraint.itemLimit) times")
            case .pattern(let item):
                throw ValidationError(
                    "--constrain \(printable(item)): give only the domain; the limit includes all names below the domain")
            case .malformed(let item):
                throw ValidationError(
                    "--constrain \(printable(item)): expected a domain in ASCII (`xn--…`), an address, or a range like 10.0.0.0/8"
                )
            }
        }
    }

    /// - Parameter terms: the terms of the new root; the caller has checked that their lifetime is allowed.
    static func made(_ terms: RootTerms, at time: POSIXTime = now) throws(ExitCode) -> LocalAuthority {
        do throws(AuthorityFault) {
            return try LocalAuthority(making: terms, at: time)
        } catch {
            throw refuse("OpenSSL failed")
        }
    }

    static func check(days: Int) throws {
        guard RootTerms.daysRange.contains(days) else {
            throw ValidationError("--days must be from \(RootTerms.daysRange.lowerBound) to \(RootTerms.daysRange.upperBound)")
        }
    }
}
