/// What a new root is to be.
public struct RootTerms: Sendable {
    /// Days that a root may be good for; ten years at most.
    public static let daysRange = 1...3650
    /// Long enough not to be in the way, short enough that rotating it is not forgotten how.
    public static let usualDays = 1095

    let owner: String
    let days: Int
    let constraint: NameConstraint?

    /// - Parameters:
    ///   - user: whose it is, for people who find it in a list. What is not printable ASCII becomes `?`.
    ///   - host: of which machine, in the same way.
    ///   - days: in `daysRange`.
    ///   - constraint: `nil` permits every host.
    public init(user: String, host: String, days: Int = usualDays, constraint: NameConstraint? = nil) {
        precondition(
            Self.daysRange.contains(days), "a root lasts from \(Self.daysRange.lowerBound) to \(Self.daysRange.upperBound) days")
        owner = Self.printable("\(user)@\(host)")
        self.days = days
        self.constraint = constraint
    }

    /// No two roots of one owner have the same name: who builds chains by names alone would take one for the other.
    func subject(tag: String) -> [(NameAttribute, String)] {
        [
            (.organization, "Larder local CA"), (.organizationalUnit, owner),
            (.commonName, "Larder \(owner.prefix(ownerLimitInCommonName)) \(tag)"),
        ]
    }

    /// Of 64 characters (RFC 5280 appendix A.1, ub-common-name), 16 are taken by the words around it.
    private var ownerLimitInCommonName: Int { 48 }

    private static func printable(_ text: String) -> String {
        let octets = text.unicodeScalars.map {
            $0.isASCII && (0x20...0x7E).contains($0.value) ? UInt8($0.value) : UInt8(ascii: "?")
        }
        return String(decoding: octets.prefix(64), as: UTF8.self)
    }
}

/// A part of a distinguished name, by the name that OpenSSL has for it.
enum NameAttribute: String {
    case organization = "O"
    case organizationalUnit = "OU"
    case commonName = "CN"
}
