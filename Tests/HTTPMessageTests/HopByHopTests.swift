import HTTPMessage
import Testing

@Suite("Hop-by-hop fields (RFC 9110 §7.6.1)")
struct HopByHopTests {
    private func names(ofHopByHop fields: [(String, String)]) -> [String] {
        var all = Fields()
        for (name, value) in fields { all.append(name: name, value: value) }
        let hopByHop = HopByHop(of: all)
        return all.lines.filter { hopByHop.contains($0, of: all) }.map { all.text(of: $0.name) }
    }

    @Test(
        "Fields that apply to one connection are never forwarded",
        arguments: [
            "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade", "HTTP2-Settings",
            "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info", "Proxy",
        ])
    func listsFixed(name: String) {
        #expect(names(ofHopByHop: [(name, "x"), ("Accept", "y")]) == [name])
    }

    @Test("A field that Connection nominates is removed, whatever its case and however the list is written")
    func followsNominations() {
        let fields = [
            ("X-One", "1"), ("X-Two", "2"), ("X-Three", "3"), ("Connection", "close, x-one ,,"), ("connection", "\tX-TWO"),
        ]
        #expect(names(ofHopByHop: fields) == ["X-One", "X-Two", "Connection", "connection"])
    }

    @Test(
        "T42 Connection cannot remove a field that the origin, the next proxy or the cache relies on",
        arguments: [
            "Host", "Content-Length", "Content-Type", "Cookie", "Via", "Cache-Control", "Authorization", "Age", "Date",
            "Expires", "ETag", "Vary", "Set-Cookie", "Forwarded", "X-Forwarded-For", "Range", "If-None-Match",
        ])
    func protectsEndToEndFields(name: String) {
        #expect(names(ofHopByHop: [(name, "x"), ("Connection", "close, \(name)")]) == ["Connection"])
    }

    @Test("A trailer field's name can be checked against the header fields")
    func asksForTrailer() {
        var fields = Fields()
        fields.append("Connection", "X-Sum")
        let isNominated = ["x-sum", "x-su"].map { HopByHop.isNominated(Array($0.utf8).span, by: fields) }
        #expect(isNominated == [true, false])
    }
}
