import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("The trace of a request")
struct TraceContextTests {
    private static let sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test(
        "A valid traceparent continues the sender's trace; others begin a new one",
        arguments: [
            (sent, true), (sent.replacing("00-", with: "01-") + "-more", true),
            (sent + "-more", false), (sent.uppercased(), false), (sent.replacing("00-", with: "ff-"), false),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false), ("", false), ("00-x", false),
            (sent + ", " + sent, false),
        ])
    func reads(value: String, isValid: Bool) {
        #expect((TraceContext.read(Array(value.utf8)) != nil) == isValid, "\(value)")
    }

    @Test("Without a decision of the sender, the share of traced requests is the setting's; no identifier is zero")
    func samples() {
        for (share, range) in [(0.0, 0...0), (0.25, 2300...2700), (1.0, 10_000...10_000)] {
            let sampling = TraceContext.Sampling(share: share)
            let traced = (1...10_000).map { TraceContext(Fields(), id: UInt64($0), sampling) }.filter(\.isSampled)
            #expect(range.contains(traced.count), "\(share): \(traced.count)")
            #expect(traced.allSatisfy { $0.span != 0 && $0.upstreamSpan != 0 && $0.traceLow != 0 && $0.parent == nil })
            #expect(Set(traced.map(\.traceHigh)).count == traced.count)
        }
    }

    @Test("The origin gets Larder's span as parent, in a field of any case; a head without the field stays as it is")
    func writes() {
        for name in ["traceparent", "Traceparent", "TRACEPARENT"] {
            var head = Array("GET / HTTP/1.1\r\nHost: a\r\nx-traceparent: 1\r\n\(name):  \(Self.sent)\r\nZ: 1\r\n\r\n".utf8)
            var fields = Fields()
            fields.append(name: name, value: Self.sent)
            let context = TraceContext(fields, id: 7, .init(share: 0))
            #expect(context.isSampled && context.parent == 0xb7ad_6b71_6920_3331)
            context.writeParent(into: &head, from: 0)
            let span = Hexadecimal.encode(padded: context.upstreamSpan)
            #expect(
                String(decoding: head, as: UTF8.self)
                    == "GET / HTTP/1.1\r\nHost: a\r\nx-traceparent: 1\r\n\(name):  00-0af7651916cd43dd8448eb211c80319c-\(span)-01\r\nZ: 1\r\n\r\n"
            )
        }
        var head = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let before = head
        TraceContext(Fields(), id: 7, .init(share: 1)).writeParent(into: &head, from: 0)
        #expect(head == before)
    }
}
