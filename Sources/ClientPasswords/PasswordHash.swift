internal import CLarderCrypt
internal import CLarderOpenSSL

/// A bcrypt hash in the format of `htpasswd -B`: `$2y$`, two digits of cost, `$`, 22 letters of salt and 31 of the hash.
struct PasswordHash: Sendable {
    enum Fault: Error, Equatable {
        case notBcrypt
        /// The cost is not allowed; the work doubles with each step of the cost.
        case costOutOfRange
    }

    /// The highest cost takes about a second.
    static let costs = 4...14
    /// How many bytes of a password bcrypt uses. It would silently ignore further bytes.
    static let passwordLimit = 72
    private static let length = 60
    private static let prefixes = ["$2y$", "$2b$", "$2a$"].map { Array($0.utf8) }

    /// The whole hash as text, with a terminating NUL.
    private let text: [UInt8]

    init(_ text: some Collection<UInt8>) throws(Fault) {
        let text = Array(text)
        guard text.count == Self.length, Self.prefixes.contains(where: text.starts(with:)), text[6] == UInt8(ascii: "$"),
            text[7...].allSatisfy(Self.isLetter), let tens = Self.digit(text[4]), let ones = Self.digit(text[5])
        else { throw .notBcrypt }
        guard Self.costs.contains(tens * 10 + ones) else { throw .costOutOfRange }
        self.text = text + [0]
    }

    /// Whether the password is correct. This takes as long as the cost requires, for any password.
    func isHash(of password: some Collection<UInt8>) -> Bool {
        var phrase = Array(password)
        let fits = phrase.count <= Self.passwordLimit && !phrase.contains(0)
        phrase.append(0)
        let size = Int(ccrypt_scratch_size())
        let agrees = withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { scratch in
            scratch.initializeMemory(as: UInt8.self, repeating: 0)
            defer { OPENSSL_cleanse(scratch.baseAddress, size) }
            return phrase.withUnsafeBytes { phrase in
                text.withUnsafeBytes { text in
                    let setting = text.assumingMemoryBound(to: CChar.self).baseAddress
                    let made = crypt_rn(
                        phrase.assumingMemoryBound(to: CChar.self).baseAddress, setting, scratch.baseAddress, Int32(size))
                    // The result is in the scratch memory, which is longer than the compared text, so the comparison reads no other memory.
                    return made.map { CRYPTO_memcmp($0, text.baseAddress, text.count) == 0 } ?? false
                }
            }
        }
        phrase.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        return agrees && fits
    }

    /// Whether the byte is in bcrypt's base64 alphabet.
    private static func isLetter(_ octet: UInt8) -> Bool {
        (octet | 0x20) &- 0x61 < 26 || digit(octet) != nil || octet == UInt8(ascii: ".") || octet == UInt8(ascii: "/")
    }

    private static func digit(_ octet: UInt8) -> Int? { octet &- 0x30 < 10 ? Int(octet &- 0x30) : nil }
}
