import HTTPMessage

@testable import ClientPasswords

/// Made with another program (crypt of libxcrypt through Python), each with the lowest cost.
enum Fixtures {
    static let openSesame = "$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy"
    /// Of `pa:ss:word`.
    static let colons = "$2b$04$abcdefghijklmnopqrstuunh10qKcoDsaz2Tw/Z/b0G1b9MWIXb/C"
    /// Of `grüß dich` in UTF-8.
    static let umlauts = "$2a$04$abcdefghijklmnopqrstuu99.GtRxdHR066AvkA2v0ZsZR9IFtVuq"
    /// Of 72 times x.
    static let longest = "$2y$05$abcdefghijklmnopqrstuujf8SX2ahXLwp9w/B.Y5XdysS6yR576q"

    static func credentials(_ text: String) throws -> BasicCredentials {
        try credentials(Array(text.utf8))
    }

    static func credentials(_ octets: [UInt8]) throws -> BasicCredentials {
        guard let credentials = BasicCredentials(Array("Basic \(Base64.encode(octets))".utf8).span) else { throw NoCredentials() }
        return credentials
    }

    struct NoCredentials: Error {}
}
