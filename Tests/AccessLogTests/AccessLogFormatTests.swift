import Foundation
import HTTPMessage
import ProxyCore
import Testing

@testable import AccessLog

@Suite("Lines of the access log")
struct AccessLogFormatTests {
    static let example: AccessRecord = {
        var record = AccessRecord()
        record.id = 0x0123_4567_89AB_CDEF
        record.receivedAt = Timestamp(milliseconds: 1_795_231_507_226)
        record.durationMicroseconds = 16_049
        record.client = IPAddress("127.0.0.1")!
        record.clientPort = 50_123
        record.status = 200
        record.bytesSent = 4749
        record.outcome = .miss
        record.reuse = "uri-miss"
        record.storage = "stored"
        record.upstream = IPAddress("2001:db8::1")
        record.upstreamPort = 8080
        record.upstreamStatus = 200
        record.connectMicroseconds = 1_200
        record.firstByteMicroseconds = 9_007
        return record
    }()

    static func line(
        _ format: AccessLog.Format, of record: AccessRecord = example, method: String = "GET", url: String = "http://a.test/x",
        referrer: String = "", userAgent: String = "", contentType: String = "", rule: String = "", serverKey: String = "",
        user: String = ""
    ) -> String {
        var lines = AccessLines()
        let (method, url, referrer) = (Array(method.utf8), Array(url.utf8), Array(referrer.utf8))
        let (userAgent, contentType, rule) = (Array(userAgent.utf8), Array(contentType.utf8), Array(rule.utf8))
        let (serverKey, user) = (Array(serverKey.utf8), Array(user.utf8))
        let texts = AccessTexts(
            method: method.span, url: url.span, referrer: referrer.span, userAgent: userAgent.span,
            contentType: contentType.span, rule: rule.span, serverKey: serverKey.span, user: user.span)
        lines.append(record, texts, as: format)
        return String(decoding: lines.bytes, as: UTF8.self)
    }

    @Test("NDJSON: one object has every decision")
    func writesNDJSON() throws {
        let line = Self.line(.ndjson, rule: "pip")
        #expect(
            line == #"{"ts":"2026-11-21T03:25:07.226Z","id":"0123456789abcdef","client":"127.0.0.1:50123","method":"GET","#
                + #""url":"http://a.test/x","status":200,"cache":"miss","reuse":"uri-miss","storage":"stored","rule":"pip","#
                + #""bytes":4749,"duration_ms":16.049,"upstream":"[2001:db8::1]:8080","upstream_status":200,"#
                + #""upstream_reused":false,"connect_ms":1.200,"first_byte_ms":9.007}"# + "\n")
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["duration_ms"] as? Double == 16.049)
    }

    @Test("NDJSON: members without a value are omitted")
    func leavesOut() {
        var record = AccessRecord()
        record.outcome = .denied
        record.status = 403
        record.error = "denied_by_rule"
        #expect(
            Self.line(.ndjson, of: record) == #"{"ts":"1970-01-01T00:00:00.000Z","id":"0000000000000000","client":"0.0.0.0:0","#
                + #""method":"GET","url":"http://a.test/x","status":403,"cache":"denied","error":"denied_by_rule","bytes":0,"#
                + #""duration_ms":0.000}"# + "\n")
    }

    @Test("NDJSON: an error has its detail and the key of the untrusted server")
    func writesErrorDetail() {
        var record = AccessRecord()
        record.outcome = .failed
        record.error = "certificate_not_trusted"
        record.errorDetail = "pin_mismatch"
        #expect(
            Self.line(.ndjson, of: record, serverKey: "sha256/a")
                .contains(#""error":"certificate_not_trusted","detail":"pin_mismatch","server_key":"sha256/a","bytes":0"#))
    }

    @Test("squid: the native columns are written as log readers expect them")
    func writesSquid() {
        #expect(
            Self.line(.squid, contentType: "text/html")
                == "1795231507.242     16 127.0.0.1 TCP_MISS/200 4749 GET http://a.test/x - HIER_DIRECT/2001:db8::1 text/html\n")
        var record = Self.example
        record.upstream = nil
        record.outcome = .hit
        record.isFromMemory = true
        #expect(Self.line(.squid, of: record).hasSuffix("TCP_MEM_HIT/200 4749 GET http://a.test/x - HIER_NONE/- -\n"))
        record.outcome = .failed
        record.isClientsFault = true
        record.status = 400
        #expect(Self.line(.squid, of: record).contains(" NONE_NONE/400 "))
    }

    @Test("combined: the line is written as web servers do")
    func writesCombined() {
        #expect(
            Self.line(.combined, userAgent: "curl/8.5.0")
                == #"127.0.0.1 - - [21/Nov/2026:03:25:07 +0000] "GET http://a.test/x HTTP/1.1" 200 4749 "-" "curl/8.5.0""# + "\n")
    }

    @Test("Each format has the user name in its place")
    func writesUser() {
        #expect(Self.line(.ndjson, user: "alice").contains(#""client":"127.0.0.1:50123","user":"alice","method""#))
        #expect(Self.line(.squid, user: "alice b").contains(" GET http://a.test/x alice%20b HIER_DIRECT/"))
        #expect(Self.line(.combined, user: "alice").hasPrefix("127.0.0.1 - alice [21/Nov"))
    }

    @Test("Every outcome has its own word and a result code of Squid", arguments: DecisionTrace.Outcome.allCases)
    func namesOutcomes(outcome: DecisionTrace.Outcome) {
        var record = Self.example
        record.outcome = outcome
        #expect(Self.line(.ndjson, of: record).contains("\"cache\":\"\(outcome.word)\""))
        #expect(Self.line(.squid, of: record).contains(/(TCP|NONE)_[A-Z_]+\/200/))
    }

    @Test(
        "T43: text from a peer cannot end a line, move the cursor or leave its quotes, in any format",
        arguments: AccessLog.Format.allCases)
    func escapes(format: AccessLog.Format) throws {
        let hostile = "a\r\nb\u{1B}[31m\"\\ \t\u{0}\u{7F}\u{9B}\u{202E}\u{2028}é' %41"
        let line = Self.line(
            format, method: hostile, url: hostile, referrer: hostile, userAgent: hostile, contentType: hostile, rule: hostile,
            user: hostile)
        #expect(line.utf8.dropLast().allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        #expect(line.utf8.last == 0x0A)
        switch format {
        case .ndjson:
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect((object?["url"] as? String)?.hasPrefix("a\r\nb\u{1B}[31m\"\\ \t") == true)
        case .squid: #expect(line.split(separator: " ").count == 10)
        case .combined: #expect(line.replacing(/\\./, with: "").count { $0 == "\"" } == 6)
        }
    }

    @Test("Bytes that are not text are written too", arguments: AccessLog.Format.allCases)
    func escapesAnyOctet(format: AccessLog.Format) throws {
        var lines = AccessLines()
        let all = (0...255).map { UInt8($0) }
        let texts = AccessTexts(
            method: all.span, url: all.span, referrer: all.span, userAgent: all.span, contentType: all.span, rule: all.span,
            serverKey: all.span)
        lines.append(Self.example, texts, as: format)
        #expect(lines.bytes.dropLast().allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        if format == .ndjson { _ = try JSONSerialization.jsonObject(with: Data(lines.bytes)) }
    }

    @Test("The length of a line is limited however long a URL is")
    func cutsLongTexts() {
        let line = Self.line(.ndjson, url: "http://a.test/" + String(repeating: "x", count: 100_000))
        #expect(line.utf8.count < 9000)
    }

    @Test("A line with the longest and most hostile texts fits into the limit", arguments: AccessLog.Format.allCases)
    func boundsLines(format: AccessLog.Format) {
        let hostile = String(repeating: "\u{1}", count: 10_000)
        var record = Self.example
        (record.id, record.bytesSent, record.bytesReceived) = (.max, .max, .max)
        (record.durationMicroseconds, record.connectMicroseconds, record.firstByteMicroseconds) = (.max, .max, .max)
        let longest = IPAddress("1111:1111:1111:1111:1111:1111:1111:1111")!
        (record.client, record.upstream) = (longest, longest)
        let line = Self.line(
            format, of: record, method: hostile, url: hostile, referrer: hostile, userAgent: hostile, contentType: hostile,
            rule: hostile)
        #expect(line.utf8.count <= AccessLog.Format.lineLimit)
    }

    @Test(
        "Dates are correct",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_709_251_199_000, "2024-02-29T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (253_402_300_799_000, "9999-12-31T23:59:59.000Z"),
            (-5, "1970-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func writesTime(milliseconds: Int64, expected: String) {
        var clock = LogClock()
        clock.advance(to: Timestamp(milliseconds: milliseconds), for: .ndjson)
        var output: [UInt8] = []
        output.append(addingCapacity: 32) { clock.writeRFC3339(into: &$0) }
        #expect(String(decoding: output, as: UTF8.self) == expected)
    }

    @Test(
        "A response served offline has Squid's own code, fresh or stale", arguments: [DecisionTrace.Outcome.hit, .staleHit])
    func tellsOffline(outcome: DecisionTrace.Outcome) {
        var record = AccessRecord()
        record.outcome = outcome
        record.isOffline = true
        #expect("\(record.squidCode)" == "TCP_OFFLINE_HIT")
    }

    @Test("The clock follows the time of each line, within a second, past it, and backward if it was set back")
    func advances() throws {
        var lines = AccessLines()
        let none = [UInt8]()
        for milliseconds in [999, 1000, 1001, 61_002, 500] as [Int64] {
            var record = AccessRecord()
            record.receivedAt = Timestamp(milliseconds: milliseconds)
            let texts = AccessTexts(
                method: none.span, url: none.span, referrer: none.span, userAgent: none.span, contentType: none.span,
                rule: none.span, serverKey: none.span)
            lines.append(record, texts, as: .ndjson)
        }
        // If a write ended within the second line, that line and those after it are missing.
        let firstLength = try #require(lines.bytes.firstIndex(of: 0x0A)) + 1
        #expect([0, 1, firstLength, firstLength + 1, lines.bytes.count].map(lines.count(from:)) == [5, 5, 4, 4, 0])
        let times = String(decoding: lines.bytes, as: UTF8.self).split(separator: "\n").map { $0.dropFirst(18).prefix(12) }
        #expect(times == ["00:00:00.999", "00:00:01.000", "00:00:01.001", "00:01:01.002", "00:00:00.500"])
    }
}
