import HTTPMessage
import Testing

@Suite("T17 Host field and target (RFC 9112 §3.2.2)")
struct HostFieldTests {
    @Test(
        "The Host field agrees with the target if both name the same host and port",
        arguments: [
            ("http://a/", "a", true), ("http://a/", "A:80", true), ("http://a:80/", "a", true), ("http://a:81/", "a:81", true),
            ("http://a./", "a", true), ("http://a/", "", true), ("/", "b", true), ("http://[::1]/", "[::1]", true),
            ("http://a/", "b", false), ("http://a/", "a:81", false), ("http://a:81/", "a", false), ("https://a/", "a:80", false),
        ])
    func compares(target: String, host: String, isSame: Bool) throws {
        var head = RequestHead()
        head.fields.append(name: "Host", value: host)
        let bytes = Array(target.utf8)
        head.rawTarget = head.fields.appendBytes(bytes.span)
        head.target = try RequestTarget(parsing: head.rawTarget.range, in: head.fields.bytes.span, method: .get)
        #expect(head.hostFieldMatchesTarget == isSame)
    }

    @Test(
        "The Host field of CONNECT may omit the port", arguments: [("a", true), ("a:443", true), ("a:80", false), ("b", false)])
    func comparesConnect(host: String, isSame: Bool) throws {
        var head = RequestHead()
        head.method = .connect
        head.fields.append(name: "Host", value: host)
        let bytes = Array("a:443".utf8)
        head.rawTarget = head.fields.appendBytes(bytes.span)
        head.target = try RequestTarget(parsing: head.rawTarget.range, in: head.fields.bytes.span, method: .connect)
        #expect(head.hostFieldMatchesTarget == isSame)
    }
}
