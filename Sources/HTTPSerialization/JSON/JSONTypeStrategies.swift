/// How a `Date` of Foundation is written in JSON.
public enum JSONDateStrategy: Hashable, Sendable {
    /// As `Date` encodes itself: seconds since the beginning of 2001.
    case asGiven
    /// A string such as `2026-11-23T03:07:55Z`, with a fraction of a second or without, in any time zone (RFC 3339).
    case iso8601
    /// A number of seconds since the beginning of 1970.
    case secondsSince1970
    /// A number of milliseconds since the beginning of 1970.
    case millisecondsSince1970
}

/// How a `Data` of Foundation is written in JSON.
public enum JSONDataStrategy: Hashable, Sendable {
    /// As `Data` encodes itself: an array of numbers.
    case asGiven
    /// A string in base64.
    case base64
}

extension JSONValueDecoder {
    /// Reads the types of Foundation in the forms that most JSON APIs use: `Date` in ISO 8601, `Data` in base64, `URL` from a string
    /// and `Decimal` from a number.
    public static let usual: JSONValueDecoder = {
        var decoder = JSONValueDecoder()
        decoder.dates = .iso8601
        decoder.data = .base64
        decoder.readsURLs = true
        decoder.readsDecimals = true
        return decoder
    }()

    var readsFoundationTypes: Bool { dates != .asGiven || data != .asGiven || readsURLs || readsDecimals }
}
