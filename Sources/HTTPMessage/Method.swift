/// A request method (RFC 9110 §9). `RequestHead` keeps the name as bytes; this enum lists the methods that Larder knows.
package enum Method: UInt8, Sendable, CaseIterable {
    case other = 0
    case get, head, post, put, delete, connect, options, trace, patch
    case propfind, report, search, query

    package init(_ name: Span<UInt8>) {
        self = .other
        for candidate in Method.allCases where candidate != .other && name.equals(candidate.name) {
            self = candidate
            return
        }
    }

    /// Methods are case-sensitive (RFC 9110 §9.1). `other` has no name of its own.
    package var name: StaticString {
        switch self {
        case .other: ""
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .connect: "CONNECT"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .patch: "PATCH"
        case .propfind: "PROPFIND"
        case .report: "REPORT"
        case .search: "SEARCH"
        case .query: "QUERY"
        }
    }

    /// Whether the method is safe (RFC 9110 §9.2.1). An unknown method is treated as unsafe.
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .propfind, .report, .search, .query: true
        case .post, .put, .delete, .connect, .patch, .other: false
        }
    }

    /// Whether the method is idempotent (RFC 9110 §9.2.2). An unknown method is treated as not idempotent.
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}
