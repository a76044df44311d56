import EventLoop
import HTTPMessage

/// The links and sessions of the page: which browsers may use it.
///
/// A link has a token of 256 random bits. The first request with the token gets a cookie, also of 256 random bits, and ends the link. All
/// other requests need the cookie. Tokens and sessions are in memory only.
package final class PageAccess: Sendable {
    package struct Limits: Sendable {
        /// Links that are not used yet; a further one replaces the oldest.
        package var links = 8
        /// How long a link can be used, in milliseconds.
        package var linkLifetime = 120_000
        /// Browsers with a cookie; a further one replaces the browser that has sent no request for the longest time.
        package var sessions = 16
        /// How long a session lasts without a request, in milliseconds.
        package var sessionIdle = 12 * 3_600_000
        /// Wrong tokens or cookies in `guessPeriod` after which Larder examines no more tokens.
        package var wrongGuesses = 10
        /// In milliseconds.
        package var guessPeriod = 60_000

        package init() {}
    }

    enum Judgement: Equatable {
        case admitted
        case wrong
        /// There were too many wrong tokens or cookies.
        case tooMany
    }

    private struct Link {
        let token: [UInt8]
        let end: MonotonicTime
    }

    private struct Session {
        let cookie: [UInt8]
        var lastUse: MonotonicTime
    }

    private struct State {
        var links: [Link] = []
        var sessions: [Session] = []
        var wrongTokens = GuessCount()
        var wrongCookies = GuessCount()
    }

    /// `127.0.0.1:3190`, as in the page's URL.
    package let authority: String
    /// The values of the Host field that name the page, in lower case.
    let authorities: Set<String>
    /// Cookies of one host are shared by all its ports, so the name has the port.
    let cookieName: String
    /// The name of this Larder in Via; empty if it has none.
    private let pseudonym: String
    private let limits: Limits
    private let state = Guarded(State())

    /// - Parameters:
    ///   - host: the address of the listener as in a URL, `127.0.0.1` or `[::1]`.
    ///   - pseudonym: the name of this Larder in Via, by which the page recognizes a request that came through the proxy.
    package init(host: String, port: UInt16, pseudonym: String = "", limits: Limits = Limits()) {
        self.pseudonym = pseudonym.lowercased()
        authority = "\(host):\(port)"
        authorities = Set([host, "127.0.0.1", "localhost", "[::1]"].map { "\($0):\(port)" })
        cookieName = "larder-page-\(port)"
        self.limits = limits
    }

    /// Whether Via (RFC 9110 §7.6.3) shows that a request came through this Larder, and then through another proxy.
    func isLoop(via values: [String]) -> Bool {
        if pseudonym.isEmpty { return false }
        return values.joined(separator: ",").split(separator: ",").contains { member in
            let words = member.split(whereSeparator: { $0 == " " || $0 == "\t" })
            return words.count > 1 && words[1].lowercased() == pseudonym
        }
    }

    // MARK: Links

    /// Makes a link that opens the page once.
    package func makeLink(at now: MonotonicTime) -> (url: String, lifetimeMilliseconds: Int) {
        let token = Self.randomText()
        state.withLock { state in
            state.links.removeAll { $0.end <= now }
            if state.links.count >= limits.links { state.links.removeFirst() }
            state.links.append(Link(token: Array(token.utf8), end: now.advanced(milliseconds: limits.linkLifetime)))
        }
        return ("http://\(authority)\(Self.openPath)?token=\(token)", limits.linkLifetime)
    }

    /// Whether a link exists that can still be used.
    package func hasLink(at now: MonotonicTime) -> Bool { state.withLock { $0.links.contains { $0.end > now } } }

    /// Ends the link with this token and begins a session.
    /// - Returns: the session's cookie, if the token is right.
    func open(_ token: String, at now: MonotonicTime) -> (judgement: Judgement, cookie: String) {
        let token = Array(token.utf8)
        let cookie = Self.randomText()
        let judgement = state.withLock { state -> Judgement in
            if state.wrongTokens.isOver(limits, at: now) { return .tooMany }
            state.links.removeAll { $0.end <= now }
            let found = state.links.indices.filter { Self.areSame(state.links[$0].token, token) }
            guard let link = found.first else {
                state.wrongTokens.note(limits, at: now)
                return .wrong
            }
            state.links.remove(at: link)
            if state.sessions.count >= limits.sessions,
                let oldest = state.sessions.indices.min(by: { state.sessions[$0].lastUse < state.sessions[$1].lastUse })
            {
                state.sessions.remove(at: oldest)
            }
            state.sessions.append(Session(cookie: Array(cookie.utf8), lastUse: now))
            return .admitted
        }
        return (judgement, cookie)
    }

    // MARK: Sessions

    /// Whether one of the cookies is that of a session.
    func judge(cookies: [String], at now: MonotonicTime) -> Judgement {
        state.withLock { state in
            state.sessions.removeAll { $0.lastUse.advanced(milliseconds: limits.sessionIdle) <= now }
            for cookie in cookies.prefix(4) {
                let found = state.sessions.indices.filter { Self.areSame(state.sessions[$0].cookie, Array(cookie.utf8)) }
                if let session = found.first {
                    state.sessions[session].lastUse = now
                    return .admitted
                }
            }
            if cookies.isEmpty { return .wrong }
            if state.wrongCookies.isOver(limits, at: now) { return .tooMany }
            state.wrongCookies.note(limits, at: now)
            return .wrong
        }
    }

    // MARK: Random texts

    private static func randomText() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in Hexadecimal.encode(padded: UInt64.random(in: 0...UInt64.max, using: &generator)) }.joined()
    }

    /// Compares in a time that depends only on the lengths, so that the time reveals no part of the right text.
    static func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}

/// Wrong guesses in the current period.
private struct GuessCount {
    private var count = 0
    private var periodEnd = MonotonicTime(nanoseconds: 0)

    mutating func isOver(_ limits: PageAccess.Limits, at now: MonotonicTime) -> Bool {
        if now >= periodEnd { count = 0 }
        return count >= limits.wrongGuesses
    }

    mutating func note(_ limits: PageAccess.Limits, at now: MonotonicTime) {
        if count == 0 { periodEnd = now.advanced(milliseconds: limits.guessPeriod) }
        count += 1
    }
}
