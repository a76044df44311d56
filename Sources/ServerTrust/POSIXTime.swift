package import HTTPMessage

/// A time in whole seconds since 1970-01-01T00:00:00Z, the resolution of dates in certificates (RFC 5280 §4.1.2.5).
public struct POSIXTime: Comparable, Hashable, Sendable {
    /// Seconds since the beginning of 1970, without leap seconds.
    public let seconds: Int64

    /// A time by its seconds.
    public init(seconds: Int64) { self.seconds = seconds }

    package init(_ time: Timestamp) { seconds = time.seconds }

    public static func < (left: POSIXTime, right: POSIXTime) -> Bool { left.seconds < right.seconds }
}
