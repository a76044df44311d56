import ArgumentParser
import CommandSupport
import HTTPMessage
import LarderSettings
import ServerTrust
import SignedEntries
import TextCoding

extension FarmKeyCommand {
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate", abstract: "Create the next farm key or signing key, which replaces the current one later.",
            discussion: """
                The nodes use the current key until the time in --from, and the next one from then on. Copy the changed files to the nodes \
                before that time, and run larder reload there.

                  larder farm key rotate signing
                  larder farm key rotate farm --from 2027-01-31T06:00:00Z

                If a key was stolen, use --from now, and then larder farm key revoke. Keys that were replaced more than seven days \
                ago are removed: no entry that needs them is used any more.
                """)

        enum Kind: String, ExpressibleByArgument, CaseIterable { case farm, signing }

        @Argument(help: "The key to replace: farm or signing.")
        var kind: Kind

        @Option(
            help: ArgumentHelp(
                "When the next key replaces the current one: a time like 2027-01-31T06:00:00Z, or now. Default: in 24 hours.",
                valueName: "time"))
        var from: String?

        @Option(
            help: ArgumentHelp(
                "A name for the next signing key in trusted.keys. Default: the name of the current key.", valueName: "name"))
        var label: String?

        @OptionGroup var place: FarmKeyPlace

        func validate() throws {
            _ = try FarmKeyCommand.start(from)
            if label != nil, kind == .farm { throw ValidationError("--label is only for signing keys.") }
            if let label, !KeyFiles.isLabel(label) {
                throw ValidationError("--label \(printable(label)): use 1 to 64 letters, digits, `.`, `-`, `_` and `@`.")
            }
        }

        func run() throws {
            ProcessMemorySecrecy.begin()
            let paths = FarmKeyPaths(folder: try place.value())
            let start = try FarmKeyCommand.start(from)
            switch kind {
            case .farm: try rotateFarm(paths, start)
            case .signing: try rotateSigning(paths, start)
            }
        }

        private func rotateFarm(_ paths: FarmKeyPaths, _ start: Timestamp) throws {
            let (farm, bytes) = try FarmKeyCommand.reading { () throws(FarmKeysUnusable) in
                try FarmKeyFiles.read(paths.farm, LocalFile.secretBytes, KeyFiles.farmKeys)
            }
            let next = FarmKey.new(start: start)
            let kept = Self.kept(farm.keys, start: \.start, at: FarmKeyCommand.now)
            guard let keys = FarmKeys(farm: farm.farm, keys: kept + [next]) else { return }
            try FarmKeyCommand.write(KeyFiles.text(keys), to: paths.farm, inPlaceOf: bytes, isSecret: true)
            Terminal.output("\(next.id)\n")
            FarmKeyCommand.advise(
                "copy \(paths.farm) to all nodes and run larder reload there before \(RFC3339Time.text(start))")
        }

        private func rotateSigning(_ paths: FarmKeyPaths, _ start: Timestamp) throws {
            let signingPath = paths.signing ?? ""
            let (signing, bytes) = try FarmKeyCommand.reading { () throws(FarmKeysUnusable) in
                try FarmKeyFiles.read(signingPath, LocalFile.secretBytes, KeyFiles.signingKeys)
            }
            let (trusted, trustedBytes) = try FarmKeyCommand.reading { () throws(FarmKeysUnusable) in
                try FarmKeyFiles.read(paths.trusted, LocalFile.guardedBytes, KeyFiles.trustedSigners)
            }
            guard let next = EntrySigningKey.new(start: start),
                let keys = EntrySigningKeys(Self.kept(signing.keys, start: \.start, at: FarmKeyCommand.now) + [next]),
                let text = KeyFiles.text(keys)
            else { throw FarmKeyCommand.refuse("OpenSSL cannot create an Ed25519 key") }
            let current = signing.current(at: FarmKeyCommand.now).id
            let name = label ?? trusted.signers.first { $0.id == current }?.label ?? ""
            let list = TrustedSigners(
                trusted.signers + [TrustedSigners.Signer(publicKey: next.publicKey, label: name)], revoked: trusted.revoked)
            // The list first: a key that is trusted and never used does no harm.
            try FarmKeyCommand.write(KeyFiles.text(list), to: paths.trusted, inPlaceOf: trustedBytes, isSecret: false)
            try FarmKeyCommand.write(text, to: signingPath, inPlaceOf: bytes, isSecret: true)
            Terminal.output("\(next.id)\n")
            FarmKeyCommand.advise(
                "copy \(paths.trusted) to all nodes and run larder reload there before \(RFC3339Time.text(start))")
        }

        /// The keys without those that were replaced so long ago that no entry under them is used.
        private static func kept<Key>(_ keys: [Key], start: (Key) -> Timestamp, at now: Timestamp) -> [Key] {
            keys.enumerated().filter { index, _ in
                index + 1 >= keys.count
                    || start(keys[index + 1]).milliseconds + EntryLimits.lifetime + EntryLimits.clockDifference
                        > now.milliseconds
            }.map(\.element)
        }
    }
}
