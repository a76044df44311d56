import HTTPMessage

/// The source of a freshness lifetime (RFC 9111 §4.2.1), in order of precedence.
public enum LifetimeSource: UInt8, CaseIterable, Sendable {
    case none, heuristic, expires, maxAge, sMaxAge, rule
    /// The signature in Location, which expires before the lifetime ends that the origin server's directives or a rule give.
    case signature

    /// Whether the origin server set the lifetime.
    package var isExplicit: Bool { self == .expires || self == .maxAge || self == .sMaxAge || self == .signature }
}

/// The data about a stored response that the reuse decision needs, computed once when it is stored. A trivial type: numbers only.
///
/// It holds the origin server's directives. Rules are applied on reading, so that a changed rule takes effect at once.
package struct ReuseFacts: Equatable, Sendable {
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let noCache = Flags(rawValue: 1 << 0)
        package static let mustRevalidate = Flags(rawValue: 1 << 1)
        package static let proxyRevalidate = Flags(rawValue: 1 << 2)
        /// s-maxage is present, valid or not: it forbids stale use (RFC 9111 §5.2.2.10).
        package static let sMaxAge = Flags(rawValue: 1 << 3)
        package static let immutable = Flags(rawValue: 1 << 4)
        package static let `public` = Flags(rawValue: 1 << 5)
        package static let noTransform = Flags(rawValue: 1 << 6)
        package static let strongETag = Flags(rawValue: 1 << 7)
        package static let weakETag = Flags(rawValue: 1 << 8)
        /// Last-Modified is present and valid.
        package static let lastModified = Flags(rawValue: 1 << 9)
        /// The response has a Vary field.
        package static let varies = Flags(rawValue: 1 << 10)
        /// The request that fetched the response had Authorization (RFC 9111 §3.5).
        package static let authorized = Flags(rawValue: 1 << 11)
        package static let setCookie = Flags(rawValue: 1 << 12)
        /// An unsafe rule overrode no-store to store the response. The response is kept in memory only (T45 in docs/threats.md), and
        /// cannot be used without such a rule.
        package static let noStore = Flags(rawValue: 1 << 13)
        /// An unsafe rule overrode private to store the response. The response cannot be used without such a rule.
        package static let `private` = Flags(rawValue: 1 << 14)
        /// The origin server limited how stale the response may be when it is used after an error (RFC 5861 §4).
        package static let staleIfError = Flags(rawValue: 1 << 15)
        /// A targeted field replaced Cache-Control and Expires (RFC 9213 §2.2).
        package static let targeted = Flags(rawValue: 1 << 16)
    }

    package var status: Status
    package var flags: Flags
    package var lifetimeSource: LifetimeSource
    /// The lifetime from the origin server's directives or the heuristic; zero if there is neither.
    package var freshnessLifetime: DeltaSeconds
    /// The upper limit of any lifetime: the time from Date until the signature in Location expires (`SignedLocation`); the greatest value
    /// without a signature.
    package var signatureLifetime = DeltaSeconds.greatest
    package var staleWhileRevalidate: DeltaSeconds
    package var staleIfError: DeltaSeconds
    /// When the response's head was received (response_time in RFC 9111 §4.2.3).
    package var responseTime: Timestamp
    /// The Date field (date_value), or the second in which the response arrived if it had no Date. Responses are ordered by this time,
    /// newest first.
    package var dateValue: Timestamp
    /// The Last-Modified field; used only if `flags` contains `.lastModified`.
    package var lastModified: Timestamp
    /// The age at the time when the head was received (corrected_initial_age in RFC 9111 §4.2.3).
    package var initialAgeInMilliseconds: Int64
    /// The mark of the trust policy that accepted the server; 0 without TLS.
    package var trust: UInt64 = 0

    package init(status: Status, responseTime: Timestamp) {
        self.status = status
        flags = []
        lifetimeSource = .none
        freshnessLifetime = .zero
        staleWhileRevalidate = .zero
        staleIfError = .zero
        self.responseTime = responseTime
        dateValue = Timestamp(seconds: responseTime.seconds)
        lastModified = Timestamp(milliseconds: 0)
        initialAgeInMilliseconds = 0
    }

    /// Whether only an unsafe rule allowed storing the response.
    package var isStoredByOverride: Bool {
        guard !flags.isDisjoint(with: [.noStore, .private, .setCookie]) else { return false }
        return !flags.isDisjoint(with: [.noStore, .private]) || !lifetimeSource.isExplicit
    }

    /// Whether the response may be kept in memory only (T45 in docs/threats.md).
    package var isMemoryOnly: Bool { flags.contains(.noStore) }

    /// Whether the origin server can validate the response. A 304 only applies to a 200 (RFC 9110 §15.4.5).
    package var canBeValidated: Bool {
        status == .ok && !flags.isDisjoint(with: [.strongETag, .weakETag, .lastModified])
    }

    /// Whether a directive of the origin server forbids serving the response stale (RFC 9111 §4.2.4).
    package var prohibitsStaleUse: Bool {
        !flags.isDisjoint(with: [.noCache, .mustRevalidate, .proxyRevalidate, .sMaxAge])
    }

    /// Whether Last-Modified is a strong validator: its time is at least one second before Date (RFC 9110 §8.8.2.2).
    var lastModifiedIsStrong: Bool {
        flags.contains(.lastModified) && dateValue.seconds - lastModified.seconds >= 1
    }
}
