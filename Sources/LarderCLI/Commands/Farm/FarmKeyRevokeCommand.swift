import ArgumentParser
import CommandSupport
import HTTPMessage
import LarderSettings
import SignedEntries
import TextCoding

extension FarmKeyCommand {
    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Revoke a signing key or a farm key.",
            discussion: """
                ID is the id of a key, as larder farm key show prints it. Readers refuse all entries that a revoked signing key has \
                signed, as soon as they have the changed trusted.keys. A revoked farm key is removed from farm.key, so that its \
                entries are no longer found.

                The command exits with 1 if no other key could take the key's place now. Then create one first:

                  larder farm key rotate signing --from now
                """)

        @Argument(help: ArgumentHelp("The id of a key.", valueName: "id"))
        var id: String

        @OptionGroup var place: FarmKeyPlace

        func run() throws {
            ProcessMemorySecrecy.begin()
            let paths = FarmKeyPaths(folder: try place.value())
            if let signer = SignerID(id.lowercased()) { return try revoke(signer, paths) }
            guard Hexadecimal.decode(id)?.count == 8 else {
                throw ValidationError("\(printable(id)) is not the id of a key: see larder farm key show.")
            }
            try revokeFarmKey(paths)
        }

        private func revoke(_ signer: SignerID, _ paths: FarmKeyPaths) throws {
            let (trusted, bytes) = try FarmKeyCommand.reading { () throws(FarmKeysUnusable) in
                try FarmKeyFiles.read(paths.trusted, LocalFile.guardedBytes, KeyFiles.trustedSigners)
            }
            if trusted.revoked.contains(signer) { throw FarmKeyCommand.refuse("\(signer) is revoked already") }
            let signingText = try signingFile(without: signer, paths)
            let list = TrustedSigners(trusted.signers.filter { $0.id != signer }, revoked: trusted.revoked + [signer])
            try FarmKeyCommand.write(KeyFiles.text(list), to: paths.trusted, inPlaceOf: bytes, isSecret: false)
            if let (text, before) = signingText, let path = paths.signing {
                try FarmKeyCommand.write(text, to: path, inPlaceOf: before, isSecret: true)
            }
            Terminal.output("revoked \(signer)\n")
            FarmKeyCommand.advise("copy \(paths.trusted) to all nodes and run larder reload there now")
        }

        /// The text of signing.key without the key; `nil` if the file does not have it.
        private func signingFile(without signer: SignerID, _ paths: FarmKeyPaths) throws -> (text: String, before: [UInt8])? {
            guard let path = paths.signing, FarmKeyCommand.exists(path) else { return nil }
            let (signing, bytes) = try FarmKeyCommand.reading { () throws(FarmKeysUnusable) in
                try FarmKeyFiles.read(path, LocalFile.secretBytes, KeyFiles.signingKeys)
            }
            guard signing.keys.contains(where: { $0.id == signer }) else { return nil }
            let others = signing.keys.filter { $0.id != signer }
            guard others.contains(where: { $0.start <= FarmKeyCommand.now }), let keys = EntrySigningKeys(others) else {
                throw FarmKeyCommand.refuse(
                    "\(path) has no other key to sign with now; create one with larder farm key rotate signing --from now")
            }
            guard let text = KeyFiles.text(keys) else { throw FarmKeyCommand.refuse("OpenSSL cannot write the keys") }
            return (text, bytes)
        }

        private func revokeFarmKey(_ paths: FarmKeyPaths) throws {
            let (farm, bytes) = try FarmKeyCommand.reading { () throws(FarmKeysUnusable) in
                try FarmKeyFiles.read(paths.farm, LocalFile.secretBytes, KeyFiles.farmKeys)
            }
            let others = farm.keys.filter { "\($0.id)" != id.lowercased() }
            guard others.count < farm.keys.count else { throw FarmKeyCommand.refuse("\(paths.farm) has no key \(id)") }
            guard others.contains(where: { $0.start <= FarmKeyCommand.now }),
                let keys = FarmKeys(farm: farm.farm, keys: others)
            else {
                throw FarmKeyCommand.refuse(
                    "\(paths.farm) has no other key to use now; create one with larder farm key rotate farm --from now")
            }
            try FarmKeyCommand.write(KeyFiles.text(keys), to: paths.farm, inPlaceOf: bytes, isSecret: true)
            Terminal.output("revoked \(id.lowercased())\n")
            FarmKeyCommand.advise("copy \(paths.farm) to all nodes and run larder reload there now")
        }
    }
}
