import HTTPMessage

/// Where a freshness lifetime came from (RFC 9111 §4.2.1), in order of precedence.
package enum LifetimeSource: UInt8, CaseIterable, Sendable {
    case none, heuristic, expires, maxAge, sMaxAge, rule
    /// The origin server's words or a rule give more: the signature in Location ends before.
    case signature

    /// The origin server said it.
    package var isExplicit: Bool { self == .expires || self == .maxAge || self == .sMaxAge || self == .signature }
}

/// What the decision to reuse a stored response needs to know of it, computed once when it is stored. Trivial: numbers only.
///
/// It holds what the origin server said; rules are applied when it is read, so that a changed rule takes effect at once.
package struct ReuseFacts: Equatable, Sendable {
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let noCache = Flags(rawValue: 1 << 0)
        package static let mustRevalidate = Flags(rawValue: 1 << 1)
        package static let proxyRevalidate = Flags(rawValue: 1 << 2)
        /// s-maxage is there, valid or not: it forbids stale use (RFC 9111 §5.2.2.10).
        package static let sMaxAge = Flags(rawValue: 1 << 3)
        package static let immutable = Flags(rawValue: 1 << 4)
        package static let `public` = Flags(rawValue: 1 << 5)
        package static let noTransform = Flags(rawValue: 1 << 6)
        package static let strongETag = Flags(rawValue: 1 << 7)
        package static let weakETag = Flags(rawValue: 1 << 8)
        /// A valid Last-Modified is there.
        package static let lastModified = Flags(rawValue: 1 << 9)
        /// The response bears Vary.
        package static let varies = Flags(rawValue: 1 << 10)
        /// The request that brought it had Authorization (RFC 9111 §3.5).
        package static let authorized = Flags(rawValue: 1 << 11)
        package static let setCookie = Flags(rawValue: 1 << 12)
        /// Stored past no-store by an unsafe rule: kept in memory only (T45), and unusable without such a rule.
        package static let noStore = Flags(rawValue: 1 << 13)
        /// Stored past private by an unsafe rule, and unusable without such a rule.
        package static let `private` = Flags(rawValue: 1 << 14)
        /// The origin server has bounded how stale it may be used after an error (RFC 5861 §4).
        package static let staleIfError = Flags(rawValue: 1 << 15)
        /// A targeted field took the place of Cache-Control and Expires (RFC 9213 §2.2).
        package static let targeted = Flags(rawValue: 1 << 16)
    }

    package var status: Status
    package var flags: Flags
    package var lifetimeSource: LifetimeSource
    /// As the origin server's words give it; zero without any.
    package var freshnessLifetime: DeltaSeconds
    /// No lifetime is longer: the time from Date to the end of the signature in Location (`SignedLocation`); the greatest without one.
    package var signatureLifetime = DeltaSeconds.greatest
    package var staleWhileRevalidate: DeltaSeconds
    package var staleIfError: DeltaSeconds
    /// When the response's head had been received (RFC 9111 §4.2.3, response_time).
    package var responseTime: Timestamp
    /// The Date field, or the second of reception where it had none (date_value). Newest first is by this.
    package var dateValue: Timestamp
    /// The Last-Modified field; meaningful with its flag.
    package var lastModified: Timestamp
    /// RFC 9111 §4.2.3, corrected_initial_age.
    package var initialAgeInMilliseconds: Int64
    /// By which trust policy the server was accepted that sent it: its mark; 0 for what came in plain text.
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

    /// Only an unsafe rule let it be stored.
    package var isStoredByOverride: Bool {
        guard !flags.isDisjoint(with: [.noStore, .private, .setCookie]) else { return false }
        return !flags.isDisjoint(with: [.noStore, .private]) || !lifetimeSource.isExplicit
    }

    /// Nothing but memory may hold it (T45).
    package var isMemoryOnly: Bool { flags.contains(.noStore) }

    /// An origin server can be asked whether it still holds. Only a 200 is what a 304 speaks of (RFC 9110 §15.4.5).
    package var canBeValidated: Bool {
        status == .ok && !flags.isDisjoint(with: [.strongETag, .weakETag, .lastModified])
    }

    /// A word of the origin server forbids serving it stale (RFC 9111 §4.2.4).
    package var prohibitsStaleUse: Bool {
        !flags.isDisjoint(with: [.noCache, .mustRevalidate, .proxyRevalidate, .sMaxAge])
    }

    /// The modification can be told from another in the same second (RFC 9110 §8.8.2.2).
    var lastModifiedIsStrong: Bool {
        flags.contains(.lastModified) && dateValue.seconds - lastModified.seconds >= 1
    }
}
