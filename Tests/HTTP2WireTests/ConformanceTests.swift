import TestSupport
import Testing

@testable import HTTP2Wire

@Suite("Conformance of a recipient (RFC 9113 §3 to §8, RFC 7541)")
struct ConformanceTests {
    @Test("The session reacts to the bytes of each case as the case expects, whole and byte by byte")
    func reacts() throws {
        var count = 0
        for test in ConformanceCase.all {
            for isWhole in [true, false] {
                let endpoint = try test.endpoint()
                endpoint.consumesContent = false
                if isWhole {
                    endpoint.receive(test.bytes)
                } else if test.bytes.count < 20_000 {
                    for byte in test.bytes { endpoint.receive([byte]) }
                } else {
                    continue
                }
                endpoint.send()
                let reaction = Reaction(of: endpoint)
                let way = isWhole ? "" : ", byte by byte"
                #expect(reaction == test.expected, "\(test.name)\(way): \(endpoint.summaries)")
                if let heads = test.heads {
                    let reported = endpoint.events.filter { $0.isRequestHead || $0.isResponseHead }.count
                    #expect(reported == heads, "\(test.name)\(way): \(endpoint.summaries)")
                }
                // Nothing that is not well-formed is ever reported.
                for case .requestHead(_, let head, _, _) in endpoint.events { #expect(head.version == .http2, "\(test.name)") }
            }
            count += 1
        }
        #expect(count == 384, "a case was added or removed")
        #expect(Set(ConformanceCase.all.map(\.name)).count == count, "two cases have one name")
    }
}
