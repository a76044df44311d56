import LarderHTTP
import Testing

@Suite("Target URIs")
struct TargetURITests {
    /// Parts to combine into valid, almost valid and invalid URIs.
    private static let schemes = ["http://", "https://", "HTTP://", "htt://", "http:/", "http:", "//", ""]
    private static let authorities = [
        "h", "h.test:81", "H.test", "127.0.0.1", "[::1]:8080", "[::1", "u@h", "h:", "h:x", "h:0", "h.", "",
    ]
    private static let paths = ["", "/", "/a/b", "/a/../b", "/.well-known", "/a b", "/é", "/a%20b", "/a//b", "/{}", "/a.b"]
    private static let rests = ["", "?", "?a=1&b=/?", "?a b", "?q#f", "#f", "#"]

    @Test("The fast and the slow parser give the same result", arguments: schemes)
    func isReadTheSame(scheme: String) throws {
        let base = try TargetURI("http://base.test/")
        func outcome(_ read: () throws(TargetURI.Fault) -> TargetURI) -> Result<TargetURI, TargetURI.Fault> {
            do throws(TargetURI.Fault) { return .success(try read()) } catch { return .failure(error) }
        }
        for authority in Self.authorities {
            for path in Self.paths {
                for rest in Self.rests {
                    let text = scheme + authority + path + rest
                    let short = outcome { () throws(TargetURI.Fault) in try TargetURI(text) }
                    // A reference with a scheme inherits nothing from the base, and uses the slow parser.
                    let long = outcome { () throws(TargetURI.Fault) in try base.resolving(text) }
                    if case .failure(.scheme) = short { continue }
                    #expect(short == long, "\(text)")
                }
            }
        }
    }

    @Test("The URI is sent as written, with invalid characters percent-encoded")
    func isSent() throws {
        #expect(try TargetURI("http://H.test:80/a?b=c#d").description == "http://h.test/a?b=c")
        #expect(try TargetURI("https://h.test").description == "https://h.test/")
        #expect(try TargetURI("http://[::1]:81/a b?c d").description == "http://[::1]:81/a%20b?c%20d")
        #expect(try TargetURI("http://h.test/a/../b/./c").path == "/b/c")
    }
}
