/// The terms of a new root.
public struct RootTerms: Sendable {
    /// The allowed validity in days; ten years at most.
    public static let daysRange = 1...3650
    /// The default validity in days: long enough to be convenient, short enough that users remember how to rotate the root.
    public static let usualDays = 1095

    let owner: String
    let days: Int
    let constraint: NameConstraint?

    /// - Parameters:
    ///   - user: the owner, for people who find the root in a list. Characters that are not printable ASCII become `?`.
    ///   - host: the owner's machine, with the same replacement.
    ///   - days: in `daysRange`.
    ///   - constraint: `nil` permits every host.
    public init(user: String, host: String, days: Int = usualDays, constraint: NameConstraint? = nil) {
        precondition(
            Self.daysRange.contains(days), "a root lasts from \(Self.daysRange.lowerBound) to \(Self.daysRange.upperBound) days")
        owner = Self.printable("\(user)@\(host)")
        self.days = days
        self.constraint = constraint
    }

    /// Each root of an owner has a different name, because programs that build chains by names alone would confuse roots with the same
    /// name.
    func subject(tag: String) -> [(NameAttribute, String)] {
        [
            (.organization, "Larder local CA"), (.organizationalUnit, owner),
            (.commonName, "Larder \(owner.prefix(ownerLimitInCommonName)) \(tag)"),
        ]
    }

    /// A common name has at most 64 characters (RFC 5280 appendix A.1, ub-common-name). The words around the owner take 16 of them.
    private var ownerLimitInCommonName: Int { 48 }

    private static func printable(_ text: String) -> String {
        let octets = text.unicodeScalars.map {
            $0.isASCII && (0x20...0x7E).contains($0.value) ? UInt8($0.value) : UInt8(ascii: "?")
        }
        return String(decoding: octets.prefix(64), as: UTF8.self)
    }
}

/// An attribute of a distinguished name. The raw value is the name that OpenSSL uses for the attribute.
enum NameAttribute: String {
    case organization = "O"
    case organizationalUnit = "OU"
    case commonName = "CN"
}
