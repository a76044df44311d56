import CertificateAuthority
import Foundation

extension RootTerms {
    /// The terms of a root that this user creates on this machine.
    package static func ofThisMachine(days: Int, constraint: NameConstraint?) -> RootTerms {
        RootTerms(user: NSUserName(), host: hostName, days: days, constraint: constraint)
    }

    /// The system's own host name, without a DNS query, which could take time.
    private static var hostName: String {
        var octets = [CChar](repeating: 0, count: 256)
        guard gethostname(&octets, octets.count - 1) == 0 else { return "localhost" }
        return String(decoding: octets.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
