package import HTTPMessage

/// The users who may authenticate with a password: a file in the format of Apache's `htpasswd -B`, `name:hash` on each line. Empty lines
/// and lines that begin with `#` are skipped. Only bcrypt is supported.
package final class PasswordFile: Sendable {
    /// A line that cannot be used; the error does not repeat its content.
    package struct Fault: Error, Equatable, Sendable {
        package let line: Int
        package let reason: String
    }

    package struct Faults: Error, Equatable, Sendable {
        package let all: [Fault]
    }

    /// The longest name, in bytes.
    package static let nameLimit = 255
    private static let carriageReturn: UInt8 = 0x0D

    private let hashes: [[UInt8]: PasswordHash]
    /// The hashes in the order of the file, for verifications of unknown names.
    private let decoys: [PasswordHash]
    private let key = CredentialsKey()
    /// A digest of the whole file, to compare two versions of it.
    private let contents: CredentialsDigest
    private static let contentsKey = CredentialsKey()
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    package init(parsing octets: [UInt8]) throws(Faults) {
        if octets.starts(with: Self.byteOrderMark) {
            throw Faults(all: [
                Fault(line: 1, reason: "the file begins with a byte order mark, which would become part of the first user name")
            ])
        }
        contents = Self.contentsKey.digest(of: octets)
        var hashes: [[UInt8]: PasswordHash] = [:]
        var decoys: [PasswordHash] = []
        var lines: [[UInt8]: Int] = [:]
        var faults: [Fault] = []
        for (index, line) in octets.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = line.last == Self.carriageReturn ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            do throws(Fault) {
                let (name, hash) = try Self.entry(line, number: index + 1)
                if let first = lines.updateValue(index + 1, forKey: name) {
                    throw Fault(line: index + 1, reason: "line \(first) already defines this user name")
                }
                hashes[name] = hash
                decoys.append(hash)
            } catch {
                faults.append(error)
            }
        }
        if decoys.isEmpty, faults.isEmpty { faults.append(Fault(line: 1, reason: "the file contains no user name")) }
        guard faults.isEmpty else { throw Faults(all: faults) }
        self.hashes = hashes
        self.decoys = decoys
    }

    private static func entry(_ line: ArraySlice<UInt8>, number: Int) throws(Fault) -> (name: [UInt8], hash: PasswordHash) {
        guard let colon = line.firstIndex(of: ASCII.colon) else {
            throw Fault(line: number, reason: "expected `name:hash`")
        }
        let name = line[..<colon]
        guard !name.isEmpty, name.count <= nameLimit, name.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Fault(line: number, reason: "a user name must have 1 to \(nameLimit) bytes and no control characters")
        }
        do throws(PasswordHash.Fault) {
            return (Array(name), try PasswordHash(line[(colon + 1)...]))
        } catch {
            switch error {
            case .notBcrypt:
                throw Fault(
                    line: number, reason: "expected a bcrypt hash (`$2y$`, `$2b$` or `$2a$`), as `htpasswd -B` writes it")
            case .costOutOfRange:
                let (least, most) = (PasswordHash.costs.lowerBound, PasswordHash.costs.upperBound)
                throw Fault(line: number, reason: "the bcrypt cost must be from \(least) to \(most)")
            }
        }
    }

    package var count: Int { hashes.count }

    /// Whether both values were read from files with the same content.
    package func isSame(as other: PasswordFile) -> Bool { contents == other.contents }

    /// The digest uses a key that belongs to this value alone: after the file is reloaded, earlier digests are useless.
    package func digest(of credentials: BasicCredentials) -> CredentialsDigest { key.digest(of: credentials.octets) }

    /// Whether the password is correct. Takes as long as the hash's cost requires, tens to hundreds of milliseconds. An unknown
    /// name takes as long as a known name, because its password is compared with a decoy hash. The same name always gets the same
    /// decoy hash.
    package func accepts(_ credentials: BasicCredentials) -> Bool {
        if let hash = hashes[Array(credentials.name)] { return hash.isHash(of: credentials.password) }
        let choice = key.digest(of: Array(credentials.name)).number % UInt64(decoys.count)
        _ = decoys[Int(choice)].isHash(of: credentials.password)
        return false
    }
}
