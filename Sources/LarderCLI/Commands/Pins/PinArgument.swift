import ArgumentParser
import CommandSupport
import LarderSettings
import ServerTrust
import TextCoding

/// A pin on the command line: the digest of a key, or a file with certificates or public keys.
enum PinArgument {
    /// - Throws: exit code 2, after reporting the problem.
    static func digests(_ text: String) throws(ExitCode) -> [SHA256Digest] {
        if let pin = try? Pin(text) { return [pin.publicKeyDigest] }
        do throws(LocalFile.Unreadable) {
            let octets = try LocalFile.bytes(at: text, atMost: TrustFiles.pinFileLimit)
            if let pins = try? Pin.reading(file: octets) { return pins.map(\.publicKeyDigest) }
            throw LocalFile.Unreadable(reason: "the file contains no readable certificate or public key")
        } catch {
            Terminal.talk(
                "larder: \(printable(text, limit: 4096)) is neither a digest (sha256/…) nor a readable file: \(error.reason)\n")
            throw ExitCode(2)
        }
    }
}
