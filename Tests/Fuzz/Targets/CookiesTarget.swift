import HTTPMessage
import LarderHTTP

extension FuzzTarget {
    /// Set-Cookie fields of several origins, one a line: what a jar sends holds no control character, goes to its domain alone, never from https
    /// to http, and never for a public suffix; a jar made of another's cookies sends the same.
    ///
    /// The first byte chooses who sends the first line, the next line comes from the next origin.
    package static let cookies = FuzzTarget("Cookies") { octets in
        guard let choice = octets.first else { return nil }
        let lines = octets.dropFirst().split(separator: 0x0A, maxSplits: 7).map { String(decoding: $0, as: UTF8.self) }
        let jar = CookieJar()
        for (index, line) in lines.enumerated() {
            jar.keep([line], from: Origins.all[(Int(choice) + index) % Origins.all.count], at: Origins.now)
        }
        let again = CookieJar(jar.cookies(at: Origins.now))
        for uri in Origins.all {
            guard let value = jar.value(for: uri, at: Origins.now) else { continue }
            if value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) { return "a control character is sent" }
            if again.value(for: uri, at: Origins.now) != value { return "a jar read is another" }
        }
        for cookie in jar.cookies(at: Origins.now) {
            if cookie.domain == "com" || cookie.domain == "co.uk" { return "a cookie for a public suffix" }
            if !Origins.all.contains(where: { $0.host == cookie.domain || $0.host.hasSuffix("." + cookie.domain) }) {
                return "a cookie for a domain that nobody is of"
            }
            if cookie.isSecure, Origins.all.allSatisfy({ !$0.isSecure || !$0.host.hasSuffix(cookie.domain) }) {
                return "a secure cookie from http"
            }
        }
        return nil
    }
}

private enum Origins {
    static let now = Timestamp(seconds: 1_717_200_000)

    // Each is a URI.
    static let all = [
        "http://example.com/", "https://example.com/a/b", "https://www.example.com/a/", "http://evil.test/",
        "https://a.b.co.uk/x",
        "http://127.0.0.1/",
    ].map { try! TargetURI($0) }
}
