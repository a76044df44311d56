import Foundation
import SecretScanning
import Snapshots
import Testing

@testable import LarderCLI

@Suite("Tally of a run's requests")
struct RequestTallyTests {
    private static func tally(_ lines: [String]) -> RequestTally {
        lines.reduce(into: RequestTally()) { $0.add(Array($1.utf8)) }
    }

    @Test("Requests, hits, bytes, hosts and refusals are counted; lines that are not records are ignored")
    func counts() {
        let tally = Self.tally([
            #"{"url":"http://a.test/1","cache":"miss","bytes":1000}"#, #"{"url":"http://a.test/1","cache":"hit","bytes":1000}"#,
            #"{"url":"b.test:443","cache":"tunnel","bytes":48}"#, #"{"url":"http://a.test/1","cache":"background","bytes":9}"#,
            #"{"method":"POST","url":"http://c.test/?q","cache":"denied","bytes":0,"rule":"no"}"#,
            #"{"method":"GET","url":"http://a.test/2?password=open-sesame&n=1","cache":"denied","bytes":0,"error":"offline_miss"}"#,
            #"{"url":"a.test:443","cache":"tunnel","connect":"intercept","bytes":9}"#, "", "{", "[1]",
        ])
        #expect(
            tally.requests == 4 && tally.hits == 1 && tally.tunnelCount == 1 && tally.sentBytes == 2048
                && tally.savedBytes == 1000)
        #expect(tally.hosts["a.test"] == .init(requests: 3, hits: 1) && tally.hosts["b.test:443"] == .init(tunnels: 1))
        #expect(
            RunSummary(tally: tally, remarks: ["and so on"]).text
                == """
                larder: 4 requests, 1 hit, 1000 B saved of 2.0 KiB, 1 denied, 1 missed, 1 tunnel
                larder:   a.test 3 requests, 1 hit
                larder:   c.test 1 request, 0 hits
                larder:   b.test:443 1 tunnel
                larder:   denied (no): POST http://c.test/?q
                larder:   denied (offline_miss): GET http://a.test/2?password={secret}&n=1
                larder: and so on

                """)
    }

    @Test("The outcomes that count as hits are the same in the summary, in larder top, on the dashboard and in the documentation")
    func agreesOnHits() throws {
        #expect(RequestTally.hitWords == ["hit", "stale_hit", "revalidated", "collapsed", "replayed"])
        let tally = Self.tally(RequestTally.hitWords.map { #"{"url":"http://a.test/1","cache":"\#($0)","bytes":1}"# })
        #expect(tally.hits == 5 && tally.savedBytes == 5)
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let dashboard = try String(contentsOf: root.appending(path: "config/grafana-dashboard.json"), encoding: .utf8)
        #expect(dashboard.contains("hit|stale_hit|revalidated|collapsed|replayed"))
        let page = try String(contentsOf: root.appending(path: "docs/operations.md"), encoding: .utf8)
        for word in RequestTally.hitWords { #expect(page.contains("| `\(word)` | yes |"), "\(word)") }
    }

    @Test("A request that Larder does not accept is counted and listed apart from a failure at the origin")
    func tellsRejections() {
        let tally = Self.tally([
            #"{"method":"GET","url":"http://a.test/1","cache":"failed","error":"connection_refused","status":502}"#,
            #"{"method":"GET","url":"http://a.test/2","cache":"failed","error":"request_fields_too_large","status":431}"#,
            #"{"url":"","cache":"failed","error":"bad_request","status":400}"#,
        ])
        #expect(tally.failedCount == 3 && tally.rejectedCount == 2)
        let text = RunSummary(tally: tally, remarks: []).text
        #expect(text.hasPrefix("larder: 3 requests, 0 hits, 0 B saved of 0 B, 0 denied, 1 failed, 2 not accepted\n"), "\(text)")
        for line in [
            "failed (connection_refused): GET http://a.test/1", "not accepted (request_fields_too_large): GET http://a.test/2",
            "not accepted (bad_request)",
        ] { #expect(text.contains("larder:   \(line)\n"), "\(text)") }
    }

    @Test("A request for a different host than its connection counts as denied; a failure at the origin does not")
    func deniesMisdirected() {
        let tally = Self.tally([
            #"{"method":"GET","url":"http://a.test/1","cache":"failed","error":"misdirected_request","transparent":true}"#,
            #"{"method":"GET","url":"http://a.test/2","cache":"failed","error":"connection_refused"}"#,
        ])
        #expect(tally.deniedCount == 1 && tally.failedCount == 1)
        #expect(
            tally.refusals.map(\.reason) == ["misdirected_request"] && tally.refusals.map(\.request) == ["GET http://a.test/1"])
    }

    @Test("Secrets that a match file declares are not in the summary")
    func masksDeclaredSecrets() throws {
        let text = #"{"secrets": {"query": ["who"], "patterns": ["acct-[0-9]+"], "public": ["password"]}}"#
        var tally = RequestTally(try SecretMask([MatchTerms(text: Array(text.utf8))]))
        let url = "http://a.test/acct-77?who=me3&password=open-sesame&n=1"
        tally.add(Array(#"{"method":"GET","url":"\#(url)","cache":"denied","error":"offline_miss"}"#.utf8))
        tally.add(Array(#"{"method":"GET","url":"\#(url)","cache":"failed","error":"refused"}"#.utf8))
        let shown = "GET http://a.test/{secret}?who={secret}&password={secret}&n=1"
        #expect(tally.refusals.map(\.request) == [shown] && tally.failures.map(\.request) == [shown])
    }

    @Test("Tunnels that were not intercepted are counted, and each host and reason is named once")
    func namesUninspected() {
        let hidden = #"{"url":"a.test:443","cache":"tunnel","connect":"probe","uninspected":"no_http1_offered","bytes":9}"#
        let plain = #"{"url":"b.test:80","cache":"tunnel","connect":"tunnel","uninspected":"not_tls","bytes":9}"#
        let tally = Self.tally([hidden, plain, hidden])
        #expect(tally.requests == 0 && tally.tunnelCount == 3 && tally.uninspectedCount == 3)
        let text = RunSummary(tally: tally, remarks: []).text
        #expect(text.hasPrefix("larder: 0 requests, 0 hits, 0 B saved of 27 B, 0 denied, 3 tunnels, 3 not intercepted\n"))
        #expect(text.contains("larder:   a.test:443 2 tunnels\n"))
        #expect(
            text.hasSuffix(
                """
                larder:   not intercepted (no_http1_offered), so no rules applied to its requests: a.test:443
                larder:   not intercepted (not_tls), so no rules applied to its requests: b.test:80

                """))
    }

    @Test("Hosts that the summary does not name are counted together, with their tunnels separate from their requests and hits")
    func countsOtherHosts() {
        let named = (0..<10).flatMap { number in
            Array(repeating: #"{"url":"http://named\#(number).test/","cache":"miss","bytes":1}"#, count: 2)
        }
        let other = #"{"url":"http://other.test/","cache":"hit","bytes":1}"#
        let tunnel = #"{"url":"tunnel.test:443","cache":"tunnel","connect":"tunnel","bytes":1}"#
        func last(_ lines: [String]) -> Substring? {
            RunSummary(tally: Self.tally(lines), remarks: []).text.split(separator: "\n").last
        }
        #expect(last(named + [other, tunnel]) == "larder:   other hosts 1 request, 1 hit, 1 tunnel")
        #expect(last(named + [tunnel]) == "larder:   other hosts 1 tunnel")
        #expect(last(named) == "larder:   named9.test 2 requests, 0 hits")
        // More hosts than are counted separately.
        let many = (0..<RequestTally.hostLimit).map { #"{"url":"http://many\#($0).test/","cache":"miss","bytes":1}"# }
        #expect(
            last(many + [other, tunnel])
                == "larder:   other hosts \(RequestTally.hostLimit - 9) requests, 1 hit, 1 tunnel")
    }

    @Test("A tunnel in which the client sent plain HTTP counts only by its requests")
    func countsPlainTunnelsOnce() {
        let tally = Self.tally([
            #"{"url":"a.test:8080","cache":"tunnel","connect":"http","bytes":0}"#,
            #"{"url":"http://a.test:8080/1","cache":"miss","bytes":1}"#,
        ])
        #expect(tally.sawClient && tally.requests == 1 && tally.tunnelCount == 0)
        #expect(RunSummary(tally: tally, remarks: []).text.contains("larder:   a.test:8080 1 request, 0 hits\n"))
    }

    @Test("Requests that failed are counted and named, up to the limit")
    func namesFailures() {
        let failure = #"{"method":"GET","url":"https://a.test/1","cache":"failed","error":"certificate_not_trusted","bytes":9}"#
        let text = RunSummary(tally: Self.tally([failure]), remarks: []).text
        #expect(text.hasPrefix("larder: 1 request, 0 hits, 0 B saved of 9 B, 0 denied, 1 failed\n"))
        #expect(text.hasSuffix("larder:   failed (certificate_not_trusted): GET https://a.test/1\n"))
        let many = RunSummary(tally: Self.tally(Array(repeating: failure, count: RequestTally.refusalLimit + 1)), remarks: [])
            .text
        #expect(many.hasSuffix("larder:   and 1 more failed\n"))
    }

    @Test("A tunnel that was refused because of plaintext in it gets a remark")
    func remarksOnClearText() {
        let refused =
            #"{"method":"CONNECT","url":"a.test:50051","cache":"denied","error":"tls_failed","detail":"not_tls","bytes":0}"#
        #expect(
            Self.tally([refused]).clearTextRemark?.hasPrefix("a.test:50051: the client used neither TLS nor HTTP/1.1") == true)
        #expect(Self.tally([#"{"url":"http://a.test/","cache":"denied","detail":"rule","bytes":0}"#]).clearTextRemark == nil)
    }

    @Test(
        "The copy of the log omits the queries of URLs, and is otherwise unchanged",
        arguments: [
            (#"{"a":1,"url":"http://a/b?c=d","status":200,"x":"?"}"#, #"{"a":1,"url":"http://a/b","status":200,"x":"?"}"#),
            (##"{"a":1,"url":"http://a/\"?\\","x":1}"##, ##"{"a":1,"url":"http://a/\"","x":1}"##),
            (#"{"a":1,"url":"http://a/b","x":"?"}"#, #"{"a":1,"url":"http://a/b","x":"?"}"#),
            (##"{"user":",\"url\":\"?","url":"http://a/?b"}"##, ##"{"user":",\"url\":\"?","url":"http://a/"}"##), ("", ""),
        ])
    func leavesQueriesOut(line: String, copy: String) {
        #expect(String(decoding: TalliedLog.withoutQuery(Array(line.utf8)), as: UTF8.self) == copy)
    }

    @Test("A host whose intercepted tunnel carried no request is named, and misses of an offline run get a remark")
    func remarks() {
        func line(_ host: String, _ rest: String) -> String { #"{"url":"\#(host)","connect":"intercept","bytes":0,\#(rest)}"# }
        var tally = Self.tally([
            line("a.test:443", #""cache":"tunnel""#), #"{"url":"https://a.test/1","cache":"miss","bytes":1}"#,
            line("b.test:8443", #""cache":"tunnel""#), #"{"url":"https://b.test:8443/1","cache":"miss","bytes":1}"#,
        ])
        #expect(tally.untrustedRemark == nil && tally.offlineRemark == nil)
        tally.add(Array(line("c.test:443", #""cache":"tunnel""#).utf8))
        #expect(tally.untrustedRemark?.hasPrefix("c.test: the client sent no request in its tunnel") == true)
        tally.add(Array(line("d.test:443", #""cache":"failed","error":"client_refused_certificate""#).utf8))
        #expect(tally.untrustedRemark?.hasPrefix("c.test and 1 more: ") == true)
        tally.add(Array(#"{"url":"https://a.test/2","cache":"denied","error":"offline_miss"}"#.utf8))
        #expect(tally.offlineRemark?.hasPrefix("1 missed offline. ") == true && tally.offlineRemark?.contains("no-store") == true)
    }

    @Test("A misdirected request counts for the tunnel's host, which gets no remark")
    func countsMisdirected() {
        let tally = Self.tally([
            #"{"url":"a.test:443","cache":"tunnel","connect":"intercept","bytes":0}"#,
            #"{"method":"GET","url":"https://a.test/1","cache":"failed","error":"misdirected_request","bytes":9}"#,
        ])
        #expect(tally.hosts == ["a.test": .init(requests: 1)] && tally.untrustedRemark == nil)
    }

    @Test("Hosts and refusals are limited; those beyond the limit are only counted")
    func isBounded() {
        var tally = RequestTally()
        for number in 0...RequestTally.hostLimit { tally.add(Array(#"{"url":"http://h\#(number)/","cache":"denied"}"#.utf8)) }
        #expect(tally.hosts.count == RequestTally.hostLimit && tally.otherHosts == .init(requests: 1))
        #expect(tally.refusals.count == RequestTally.refusalLimit && tally.deniedCount == RequestTally.hostLimit + 1)
        let text = RunSummary(tally: tally, remarks: []).text
        #expect(text.contains("other hosts 9991 requests") && text.contains("and 9981 more"))
    }
}
