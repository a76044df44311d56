import HTTPMessage

/// Requests in origin form: of a server, which a proxy is for a few pages of its own. They are read by programs that are being set up,
/// and by nobody's web page.
extension Exchange {
    /// Why such a request is not answered; `nil` where it is (`OwnPage`).
    func refusalOfDirectRequest() -> Fault? {
        guard let page = OwnPage(request) else { return .notForAProxy }
        // A name that somebody has led to this address (T05).
        guard let host = request.hostField, context.isOwn(host, in: request) else { return .foreignHost }
        if comesFromAPage { return .crossSite }
        return page.isCertificate && context.rootCertificate == nil ? .noAuthority : nil
    }

    /// A page of another site has asked (T06): of what browsers say of themselves only what the user has typed is let through.
    private var comesFromAPage: Bool {
        for line in request.fields.lines {
            let name = request.span(of: line.name)
            if name.equalsIgnoringCase("origin") { return true }
            guard name.equalsIgnoringCase("sec-fetch-site") else { continue }
            let site = request.fields.value(of: line)
            if !site.equals("none"), !site.equals("same-origin") { return true }
        }
        return false
    }

    /// What stands behind the lines that begin every head of ours, and the content.
    func writeOwnPage(_ page: OwnPage, into output: inout [UInt8]) {
        let content =
            switch page {
            case .script: configurationScript
            case .certificatePEM: context.rootCertificate?.pem ?? []
            case .certificateDER: context.rootCertificate?.der ?? []
            }
        output.append("Content-Type: ")
        output.append(page.contentType)
        // No page of another site is to make use of it in any other way either.
        output.append("\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n")
        output.append("Cross-Origin-Resource-Policy: same-origin\r\n")
        output.appendContentLength(UInt64(content.count))
        writeEnd(into: &output)
        if request.method != .head { output.append(contentsOf: content) }
    }

    /// Whatever is asked over HTTP goes by the listener that the client has named, and nothing goes past it.
    private var configurationScript: [UInt8] {
        guard let host = request.hostField else { return [] }
        var script: [UInt8] = []
        script.append("function FindProxyForURL(url, host) {\n  return /^(https?|wss?):/i.test(url) ? \"PROXY ")
        if host.hostKind == .ipv6 { script.append("[") }
        // One of our own names, so that nothing in it could end the string.
        script.append(request.span(of: host.host))
        if host.hostKind == .ipv6 { script.append("]") }
        script.append(":")
        script.append(decimal: UInt64(host.port ?? 80))
        script.append("\" : \"DIRECT\";\n}\n")
        return script
    }
}

extension ExchangeContext {
    /// Whether a Host field names one of our listeners. One that listens on every address is named by any: whoever writes an address
    /// was led there by no name (T05).
    fileprivate func isOwn(_ host: Authority, in request: borrowing RequestHead) -> Bool {
        let port = host.port ?? 80
        if isOwnAddress(host: request.span(of: host.host), port: port) { return true }
        return host.hostKind != .name && ownAddresses.contains { $0.port == port && $0.isAnyAddress }
    }
}
