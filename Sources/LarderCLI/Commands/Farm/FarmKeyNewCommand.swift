import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import SignedEntries
import TextCoding

extension FarmKeyCommand {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new", abstract: "Create the keys of a new farm, or the signing key of a further node.",
            discussion: """
                Existing key files stay unchanged: the command then exits with 1.

                With --signing-only, the command creates signing.key, and adds its public key to trusted.keys in the same folder. Then copy \
                trusted.keys to all nodes.
                """)

        @Flag(help: "Create only a signing key. Default: create farm.key, signing.key and trusted.keys.")
        var signingOnly = false

        @Option(
            help: ArgumentHelp(
                "A name for the signing key in trusted.keys: letters, digits, `.`, `-`, `_`, `@`. Default: none.",
                valueName: "name"))
        var label: String?

        @OptionGroup var place: FarmKeyPlace

        func validate() throws {
            if let label, !KeyFiles.isLabel(label) {
                throw ValidationError("--label \(printable(label)): use 1 to 64 letters, digits, `.`, `-`, `_` and `@`.")
            }
        }

        func run() throws {
            ProcessMemorySecrecy.begin()
            let folder = try place.value()
            let paths = FarmKeyPaths(folder: folder)
            let signingPath = "\(folder)/signing.key"
            let new = signingOnly ? [signingPath] : [paths.farm, signingPath, paths.trusted]
            if let existing = new.first(where: FarmKeyCommand.exists) {
                throw FarmKeyCommand.refuse("\(existing) exists already; larder farm key rotate replaces keys")
            }
            try create(folder)
            guard let key = EntrySigningKey.new(start: now), let keys = EntrySigningKeys([key]),
                let text = KeyFiles.text(keys)
            else { throw FarmKeyCommand.refuse("OpenSSL cannot create an Ed25519 key") }
            let signer = TrustedSigners.Signer(publicKey: key.publicKey, label: label ?? "")
            if signingOnly {
                try addTrusted(signer, to: paths.trusted)
            } else {
                guard let farm = FarmKeys(farm: FarmID(), keys: [FarmKey.new(start: now)]) else { return }
                try FarmKeyCommand.write(KeyFiles.text(farm), to: paths.farm, inPlaceOf: nil, isSecret: true)
                try FarmKeyCommand.write(
                    KeyFiles.text(TrustedSigners([signer])), to: paths.trusted, inPlaceOf: nil, isSecret: false)
            }
            try FarmKeyCommand.write(text, to: signingPath, inPlaceOf: nil, isSecret: true)
            Terminal.output("\(key.id)\n")
            FarmKeyCommand.advise(
                signingOnly
                    ? "copy \(paths.trusted) to all nodes and run larder reload there, before this node writes"
                    : "copy \(paths.farm) and \(paths.trusted) to all nodes; \(signingPath) stays on this node")
        }

        private var now: Timestamp { FarmKeyCommand.now }

        private func create(_ folder: String) throws {
            do {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw FarmKeyCommand.refuse("cannot create the folder \(folder): \(error.localizedDescription)")
            }
        }

        private func addTrusted(_ signer: TrustedSigners.Signer, to path: String) throws {
            guard FarmKeyCommand.exists(path) else {
                throw FarmKeyCommand.refuse("\(path) does not exist; copy it from another node of the farm first")
            }
            let (trusted, bytes) = try FarmKeyCommand.reading { () throws(FarmKeysUnusable) in
                try FarmKeyFiles.read(path, LocalFile.guardedBytes, KeyFiles.trustedSigners)
            }
            let list = TrustedSigners(trusted.signers + [signer], revoked: trusted.revoked)
            try FarmKeyCommand.write(KeyFiles.text(list), to: path, inPlaceOf: bytes, isSecret: false)
        }
    }
}
