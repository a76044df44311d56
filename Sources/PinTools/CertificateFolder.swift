import CommandSupport
import LarderSettings
import ServerTrust
import TextCoding

/// A folder of certificates (`.cer`) that an app bundles for one host, as for AFNetworking's security policy. An unreadable certificate
/// is an error: AFNetworking skipped such certificates, and pinned the host only to the others.
package enum CertificateFolder {
    package static func read(_ folder: String, host: String) throws -> PinnedHost {
        var pinned = PinnedHost(pattern: host, live: [])
        guard pinned.scope != nil else { throw PinFormatError("`\(printable(host))` is not a host") }
        let names = try LocalFile.names(in: folder, endings: [".cer"])
        if names.isEmpty { throw PinFormatError("no file in the folder ends with .cer") }
        for name in names {
            let octets = try LocalFile.bytes(at: "\(folder)/\(name)", atMost: TrustFiles.pinFileLimit)
            do throws(Pin.Fault) {
                let digests = try Pin.reading(file: octets).map(\.publicKeyDigest)
                pinned.live += digests.filter { !pinned.live.contains($0) }
            } catch {
                throw PinFormatError("\(name) contains no readable certificate")
            }
        }
        return pinned
    }
}
