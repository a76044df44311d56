import HTTPMessage
import Testing

@Suite("Connection options and persistence (RFC 9110 §7.6.1, RFC 9112 §9.3)")
struct ConnectionOptionsTests {
    private func options(_ values: String...) -> ConnectionOptions {
        var fields = Fields()
        for value in values { fields.append(name: "Connection", value: value) }
        return ConnectionOptions(of: fields)
    }

    @Test("close and keep-alive are found in any case and on any line")
    func findsOptions() {
        #expect(options("CLOSE").hasClose)
        #expect(options("x, Keep-Alive").hasKeepAlive)
        #expect(options("a", "b,close").hasClose)
        #expect(!options("closed, not-close").hasClose)
        #expect(!options().hasClose)
    }

    @Test("Names of the fixed list are not nominations; other names are")
    func findsNominations() {
        #expect(!options("close, keep-alive, Upgrade, TE, Transfer-Encoding").hasNominations)
        #expect(options("close, X-Custom").hasNominations)
    }

    @Test("A client's connection persists after HTTP/1.1 without close, and never after HTTP/1.0")
    func clientPersistence() {
        #expect(options().permitsNextRequest(after: .http11))
        #expect(!options("close").permitsNextRequest(after: .http11))
        #expect(!options("keep-alive").permitsNextRequest(after: .http10))
    }

    @Test("An origin's connection is reused after HTTP/1.1 without close, and after HTTP/1.0 with keep-alive")
    func originPersistence() {
        #expect(options().permitsReuse(afterResponse: .http11))
        #expect(!options("close, keep-alive").permitsReuse(afterResponse: .http11))
        #expect(options("keep-alive").permitsReuse(afterResponse: .http10))
        #expect(!options().permitsReuse(afterResponse: .http10))
    }
}
