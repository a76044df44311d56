import HTTPMessage
import ProxyPolicy

/// The way on which a request would be sent, for explanations.
package struct RouteSummary: Sendable {
    /// The facts about a request that decide how it is sent.
    package struct Question: Sendable {
        package let isSecure: Bool
        package let host: String
        package let port: UInt16
        package let key: [UInt8]
        package let isTunnel: Bool
        package let hasCredentials: Bool
        package let now: Timestamp
        /// The choice of the rules; `nil` if no rule names a way.
        package let choice: UpstreamChoice?
    }

    /// The way's name.
    package let name: String
    /// The URL of the proxy, or of the parent that is the first choice; `nil` for direct connections.
    package let proxy: String?
    package let isParent: Bool
    /// Whether the proxy gets only a tunnel (CONNECT, SOCKS5).
    package let isTunnelled: Bool
    /// Whether the parent verifies the origin; `nil` without TLS.
    package let isVerifiedByParent: Bool?

    package init(name: String, proxy: String?, isParent: Bool, isTunnelled: Bool, isVerifiedByParent: Bool?) {
        self.name = name
        self.proxy = proxy
        self.isParent = isParent
        self.isTunnelled = isTunnelled
        self.isVerifiedByParent = isVerifiedByParent
    }
}
