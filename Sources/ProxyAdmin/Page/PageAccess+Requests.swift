import EventLoop
import HTTPMessage

/// The checks of every request to the page's listener (threats T05 to T07).
extension PageAccess {
    /// The path of links. `?token=` follows.
    static let openPath = "/open"

    /// Fields of every response from the page's listener.
    static let fields: [(name: StaticString, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'"
        ), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Embedder-Policy", "require-corp"),
    ]

    /// - Returns: whether the request may go on to its route. If not, it was answered here.
    func admits(_ request: AdminRequest, _ exchange: AdminExchange) -> Bool {
        let fields = request.head.fields
        if isLoop(via: Self.values(of: "via", in: fields)) {
            exchange.refuse(
                Status(508), code: "loop_detected",
                detail: "The request came through this proxy, which does not lead to its own page.")
            return false
        }
        guard let host = Self.values(of: "host", in: fields).first?.lowercased(), authorities.contains(host) else {
            exchange.refuse(Status(403), code: "foreign_host", detail: "The Host field names a different server.")
            return false
        }
        guard Self.isOfTheSameOrigin(fields, host: host, isChange: !Self.isSafe(request.head.method)) else {
            exchange.refuse(Status(403), code: "cross_site", detail: "The page accepts no requests from other web pages.")
            return false
        }
        let now = exchange.loop.now
        if request.path == Self.openPath {
            open(request, exchange, at: now)
            return false
        }
        switch judge(cookies: cookies(in: fields), at: now) {
        case .admitted: return true
        case .wrong: refuse(exchange, Status(403), code: "no_session")
        case .tooMany: refuse(exchange, Status(429), code: "too_many_guesses")
        }
        return false
    }

    /// A browser sends Sec-Fetch-Site with every request, and Origin with every request that is not a navigation or a plain GET.
    /// Requests that change something need both Origin and X-Larder: a form of another site can send neither.
    private static func isOfTheSameOrigin(_ fields: Fields, host: String, isChange: Bool) -> Bool {
        let sites = values(of: "sec-fetch-site", in: fields)
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else { return false }
        let origins = values(of: "origin", in: fields)
        guard origins.allSatisfy({ $0.lowercased() == "http://\(host)" }) else { return false }
        return !isChange || (origins.count == 1 && values(of: "x-larder", in: fields) == ["1"])
    }

    private static func isSafe(_ method: Method) -> Bool { method == .get || method == .head }

    private func open(_ request: AdminRequest, _ exchange: AdminExchange, at now: MonotonicTime) {
        guard request.head.method == .get, request.parameters.count == 1, let token = request["token"] else {
            return exchange.refuse(Status(400), code: "bad_link", detail: "Use the link that `larder ui` prints.")
        }
        let (judgement, cookie) = open(token, at: now)
        switch judgement {
        case .admitted:
            exchange.answer(
                Status(303), contentType: "text/plain; charset=utf-8", body: [],
                fields: [
                    ("Location", "/"), ("Set-Cookie", "\(cookieName)=\(cookie); HttpOnly; SameSite=Strict; Path=/"),
                ])
        case .wrong: refuse(exchange, Status(403), code: "bad_token")
        case .tooMany: refuse(exchange, Status(429), code: "too_many_guesses")
        }
    }

    private func refuse(_ exchange: AdminExchange, _ status: Status, code: String) {
        let detail =
            switch code {
            case "bad_token": "This link was used already, or is too old. Run `larder ui` again for a new link."
            case "no_session": "This page needs a link. Run `larder ui` to get one."
            default: "There were too many wrong tokens. Try again in a minute."
            }
        exchange.refuse(status, code: code, detail: detail)
    }

    private func cookies(in fields: Fields) -> [String] {
        Self.values(of: "cookie", in: fields).flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0] == cookieName ? String(parts[1]) : nil
        }
    }

    private static func values(of name: String, in fields: Fields) -> [String] {
        fields.lines.filter { fields.text(of: $0.name).lowercased() == name }.map { fields.text(of: $0.value) }
    }
}
