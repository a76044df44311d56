import CLarderCurl
import HTTPMessage

/// libcurl's easy handles, configured only to connect, and pooled for reuse.
struct EasyHandles {
    private var spare: [UnsafeMutableRawPointer] = []
    private static let spareLimit = 16

    /// A handle for one attempt. The attempt keeps the lists, which libcurl does not copy.
    mutating func take(_ connector: Connector, for target: ConnectTarget, milliseconds: Int) -> (
        easy: UnsafeMutableRawPointer, lists: [UnsafeMutablePointer<curl_slist>]
    ) {
        let easy = spare.popLast() ?? make(connector)
        return (easy, prepare(easy, target: target, milliseconds: milliseconds))
    }

    /// Takes back a handle that was removed from its multi handle.
    mutating func put(_ easy: UnsafeMutableRawPointer) {
        setList(easy, CURLOPT_RESOLVE, nil)
        setList(easy, CURLOPT_PROXYHEADER, nil)
        setPointer(easy, CURLOPT_OPENSOCKETDATA, nil)
        if spare.count < Self.spareLimit { spare.append(easy) } else { curl_easy_cleanup(easy) }
    }

    mutating func removeAll() {
        for easy in spare { curl_easy_cleanup(easy) }
        spare = []
    }

    private func make(_ connector: Connector) -> UnsafeMutableRawPointer {
        guard let easy = curl_easy_init() else { preconditionFailure("out of memory") }
        set(easy, CURLOPT_CONNECT_ONLY, 1)
        set(easy, CURLOPT_NOSIGNAL, 1)
        // Without `CURLOPT_QUICK_EXIT`, ending an attempt would wait for a hanging resolver.
        set(easy, CURLOPT_QUICK_EXIT, 1)
        // libcurl must read no settings from the environment or from files (T47, T48).
        set(easy, CURLOPT_PROTOCOLS_STR, "http")
        set(easy, CURLOPT_FOLLOWLOCATION, 0)
        set(easy, CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(easy, CURLOPT_HTTP09_ALLOWED, 0)
        set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(easy, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        check(larder_curl_set_opensocket(easy, connectorOpensSocket))
        check(larder_curl_set_closesocket(easy, connectorClosesSocket))
        setPointer(easy, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(connector).toOpaque())
        // The HTTP version of a tunnel request.
        set(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        return easy
    }

    private func prepare(
        _ easy: UnsafeMutableRawPointer, target: ConnectTarget, milliseconds: Int
    ) -> [UnsafeMutablePointer<curl_slist>] {
        let origin = Origin(scheme: .http, host: target.connectedHost, port: target.port)
        set(easy, CURLOPT_URL, "http://\(origin.authority)/")
        set(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        var lists: [UnsafeMutablePointer<curl_slist>] = []
        var resolved: UnsafeMutablePointer<curl_slist>?
        if !target.addresses.isEmpty, target.tunnelProxy?.scheme.isSOCKS != true {
            let addresses = target.addresses.map { $0.family == .ipv6 ? "[\($0)]" : "\($0)" }
            resolved = curl_slist_append(nil, "\(target.host):\(target.port):\(addresses.joined(separator: ","))")
        }
        setList(easy, CURLOPT_RESOLVE, resolved)
        var proxyFields: UnsafeMutablePointer<curl_slist>?
        if let proxy = target.tunnelProxy {
            set(easy, CURLOPT_PROXY, "\(Self.scheme(of: proxy, for: target))://\(proxy.origin.authority)")
            set(easy, CURLOPT_NOPROXY, "")
            set(easy, CURLOPT_HTTPPROXYTUNNEL, proxy.scheme.isSOCKS ? 0 : 1)
            proxyFields = curl_slist_append(nil, "Proxy-Connection:")
            if !target.via.isEmpty { proxyFields = curl_slist_append(proxyFields, "Via: \(target.via)") }
            if let authorization = proxy.authorization {
                proxyFields = curl_slist_append(
                    proxyFields, "Proxy-Authorization: \(String(decoding: authorization, as: UTF8.self))")
            }
        } else {
            set(easy, CURLOPT_PROXY, "")
            set(easy, CURLOPT_NOPROXY, "*")
            set(easy, CURLOPT_HTTPPROXYTUNNEL, 0)
        }
        setList(easy, CURLOPT_PROXYHEADER, proxyFields)
        setPassword(easy, target.tunnelProxy?.password)
        if let resolved { lists.append(resolved) }
        if let proxyFields { lists.append(proxyFields) }
        return lists
    }

    /// libcurl's word for the proxy. A SOCKS5 proxy gets an address if the address is known (RFC 1928 §4), and otherwise the name.
    private static func scheme(of proxy: UpstreamProxy, for target: ConnectTarget) -> String {
        guard proxy.scheme.isSOCKS else { return "http" }
        return IPAddress(target.connectedHost) == nil ? "socks5h" : "socks5"
    }

    /// Sets the password with which libcurl answers the proxy's 407, on the same connection if that stays open.
    private func setPassword(_ easy: UnsafeMutableRawPointer, _ password: UpstreamProxy.Password?) {
        guard let password else {
            setPointer(easy, CURLOPT_PROXYUSERNAME, nil)
            return setPointer(easy, CURLOPT_PROXYPASSWORD, nil)
        }
        set(easy, CURLOPT_PROXYAUTH, Int(larder_curl_auth_basic_digest))
        set(easy, CURLOPT_PROXYUSERNAME, password.user)
        set(easy, CURLOPT_PROXYPASSWORD, password.password)
    }

    private func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ value: Int) {
        check(larder_curl_set_long(easy, option, value))
    }

    private func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ value: String) {
        check(larder_curl_set_text(easy, option, value))
    }

    private func setList(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ list: UnsafeMutablePointer<curl_slist>?) {
        check(larder_curl_set_list(easy, option, list))
    }

    private func setPointer(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ pointer: UnsafeMutableRawPointer?) {
        check(larder_curl_set_pointer(easy, option, pointer))
    }

    private func check(_ code: CURLcode) {
        precondition(code == CURLE_OK, "libcurl refused an option")
    }
}
