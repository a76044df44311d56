import CertificateAuthority
import Foundation

extension RootTerms {
    /// Those of a root that this user makes on this machine.
    package static func ofThisMachine(days: Int, constraint: NameConstraint?) -> RootTerms {
        RootTerms(user: NSUserName(), host: hostName, days: days, constraint: constraint)
    }

    /// As the system calls itself: nobody is asked for its names, which may take its time.
    private static var hostName: String {
        var octets = [CChar](repeating: 0, count: 256)
        guard gethostname(&octets, octets.count - 1) == 0 else { return "localhost" }
        return String(decoding: octets.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
