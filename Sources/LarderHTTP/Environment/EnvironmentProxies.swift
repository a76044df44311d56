import Glibc
import HTTPMessage

/// The proxies that environment variables name, read as curl reads them.
///
/// `http_proxy` counts in lower case only: a CGI program gets the request field `Proxy` as `HTTP_PROXY`. An empty variable counts as unset.
struct EnvironmentProxies: Sendable {
    let http: SessionProxy?
    let https: SessionProxy?
    private let exceptions: NoProxyList

    static let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]

    /// - Throws: `bad_url` for a variable that names no usable proxy.
    init(_ variables: [String: String]) throws(SessionError) {
        func first(_ names: [String]) -> String? { names.first { variables[$0]?.isEmpty == false } }
        func proxy(_ names: [String]) throws(SessionError) -> SessionProxy? {
            guard let name = first(names), let value = variables[name] else { return nil }
            return try Self.proxy(value, named: name)
        }
        http = try proxy(["http_proxy", "all_proxy", "ALL_PROXY"])
        https = try proxy(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        exceptions = NoProxyList(first(["no_proxy", "NO_PROXY"]).flatMap { variables[$0] } ?? "")
    }

    /// The variables of this process that the proxies are read from.
    static func variablesOfProcess() -> [String: String] {
        var variables: [String: String] = [:]
        for name in names { if let value = getenv(name) { variables[name] = String(cString: value) } }
        return variables
    }

    /// - Parameter host: in lower case; an IPv6 address without brackets.
    func proxy(isSecure: Bool, host: String) -> SessionProxy? {
        guard let proxy = isSecure ? https : http else { return nil }
        return exceptions.includes(host) ? nil : proxy
    }

    /// Parses `[http://][user[:password]@]host[:port][/]`. The default port is 1080, as in curl.
    private static func proxy(_ value: String, named name: String) throws(SessionError) -> SessionProxy {
        func fault(_ reason: String) -> SessionError { SessionError(.badURL, "the variable \(name) \(reason)") }
        var rest = Substring(value)
        if let scheme = rest.firstRange(of: "://") {
            guard rest[..<scheme.lowerBound].lowercased() == "http" else {
                throw fault("names a proxy that is not an HTTP proxy without TLS, which the session does not support")
            }
            rest = rest[scheme.upperBound...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var credential: HTTPCredential?
        if let sign = rest.lastIndex(of: "@") {
            let parts = rest[..<sign].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let user = decoded(parts[0]), let password = decoded(parts.count > 1 ? parts[1] : "") else {
                throw fault("has a malformed user name or password")
            }
            credential = .password(user: user, password: password)
            rest = rest[rest.index(after: sign)...]
        }
        // The parser of URIs checks the host and the port. A port of its own shows whether the variable has one.
        guard let uri = try? TargetURI("http://\(rest)/"), uri.path == "/" else { throw fault("names no proxy") }
        let hasPort = rest.hasSuffix(":\(uri.port)") && !rest.hasSuffix("]")
        return SessionProxy(host: uri.host, port: hasPort ? uri.port : 1080, credential: credential)
    }

    private static func decoded(_ text: Substring) -> String? {
        var octets: [UInt8] = []
        var rest = text.utf8[...]
        while let octet = rest.first {
            rest = rest.dropFirst()
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard rest.count >= 2, let value = UInt8(Substring(rest.prefix(2)), radix: 16) else { return nil }
            octets.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: octets, as: UTF8.self)
    }
}
