import HTTPMessage

/// The limits that a rule sets for the requests that match it: the rule's `limit`.
package struct RuleLimit: Hashable, Sendable {
    /// What a limit restricts.
    package enum Word: UInt8, Sendable, CaseIterable {
        case requestBody, responseBody, rate, requests, bytesOut, bytesIn

        /// The limit's key in the settings, which is also the detail of the error.
        package var text: StaticString {
            switch self {
            case .requestBody: "request_body"
            case .responseBody: "response_body"
            case .rate: "rate"
            case .requests: "requests"
            case .bytesOut: "bytes_out"
            case .bytesIn: "bytes_in"
            }
        }
    }

    /// Which requests share one count.
    package enum Scope: String, Sendable, CaseIterable {
        case rule, client, user, run, host
    }

    /// How long a quota lasts. A window begins with the first request that it counts.
    package enum Window: Hashable, Sendable {
        case microseconds(UInt64)
        /// The quota lasts until Larder ends.
        case run
    }

    /// A token bucket: `count` requests at once, refilled evenly over `microseconds`.
    package struct Rate: Hashable, Sendable {
        package let count: UInt64
        package let microseconds: UInt64

        package init(count: UInt64, microseconds: UInt64) {
            self.count = count
            self.microseconds = microseconds
        }
    }

    /// The maximum lengths of the content of a request and of a response, in bytes; `nil` for no limit.
    package var requestBody: UInt64?
    package var responseBody: UInt64?
    package var rate: Rate?
    /// The quotas of one window: the number of requests, the bytes of their content, and the bytes of content from origins.
    package var requests: UInt64?
    package var bytesOut: UInt64?
    package var bytesIn: UInt64?
    package var scope = Scope.rule
    /// The window of the quotas; `nil` if there is no quota.
    package var window: Window?

    package init() {}

    /// Whether Larder counts requests or bytes for the limit.
    package var counts: Bool { rate != nil || hasQuota }

    var hasQuota: Bool { requests != nil || bytesOut != nil || bytesIn != nil }

    /// Whether the limit needs the length of the content of requests or responses, which a tunnel hides.
    package var needsContent: Bool { requestBody != nil || responseBody != nil || bytesOut != nil || bytesIn != nil }

    /// A limit in bytes; `nil` if there is none.
    package func most(_ word: Word) -> UInt64? {
        switch word {
        case .requestBody: requestBody
        case .responseBody: responseBody
        case .bytesOut: bytesOut
        case .bytesIn: bytesIn
        case .rate, .requests: nil
        }
    }

    /// All quantities that the rule limits.
    package var words: [Word] {
        Word.allCases.filter { word in
            switch word {
            case .rate: rate != nil
            case .requests: requests != nil
            case .requestBody, .responseBody, .bytesOut, .bytesIn: most(word) != nil
            }
        }
    }

    /// One limit as written in the settings, for users: `requests: 1000, within: 1h, per: client`.
    package func description(of word: Word) -> String {
        switch word {
        case .requestBody: return "request_body: \(SettingsQuantity.text(ofBytes: requestBody ?? 0))"
        case .responseBody: return "response_body: \(SettingsQuantity.text(ofBytes: responseBody ?? 0))"
        case .rate: return "rate: \(rate?.description ?? "")" + scopeText
        case .requests: return "requests: \(requests ?? 0)" + windowText + scopeText
        case .bytesOut: return "bytes_out: \(SettingsQuantity.text(ofBytes: bytesOut ?? 0))" + windowText + scopeText
        case .bytesIn: return "bytes_in: \(SettingsQuantity.text(ofBytes: bytesIn ?? 0))" + windowText + scopeText
        }
    }

    private var scopeText: String { scope == .rule ? "" : ", per: \(scope.rawValue)" }

    private var windowText: String {
        switch window {
        case .microseconds(let length): ", within: \(SettingsQuantity.text(ofMilliseconds: Int64(length / 1000)))"
        case .run: ", within: run"
        case nil: ""
        }
    }
}

extension RuleLimit.Rate: CustomStringConvertible {
    package var description: String {
        let unit = Self.units.first { $0.value == microseconds }?.key ?? ""
        return "\(count)/\(unit)"
    }

    static let units: KeyValuePairs<String, UInt64> = ["s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000]
}
