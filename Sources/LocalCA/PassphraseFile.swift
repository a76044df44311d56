import CommandSupport

/// A key's passphrase: the first line of a file that only its owner can access.
package enum PassphraseFile {
    static let lengthRange = 1...1024

    package static func read(_ path: String) throws(AuthorityFolderError) -> [UInt8] {
        do throws(LocalFile.Unreadable) {
            let octets = try LocalFile.secretBytes(at: path, atMost: 4096)
            let line = Array(octets.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
            guard lengthRange.contains(line.count) else {
                throw LocalFile.Unreadable(reason: "the first line must have 1 to 1024 bytes")
            }
            return line
        } catch {
            throw AuthorityFolderError("\(path): \(error.reason)")
        }
    }
}
