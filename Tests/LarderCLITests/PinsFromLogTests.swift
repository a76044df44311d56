import Foundation
import TestSupport
import Testing

@testable import LarderCLI
@testable import PinTools

@Suite("larder pins learn --from-log")
struct PinsFromLogTests {
    private static let keys = [
        "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", "sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM=",
        "sha256/1DD0chPzVF7IIsrtsjp6+uTvoGVn4BqEx/5yOHGiTas=",
    ]

    private static func line(_ host: String, _ chain: [String], at time: String = "2026-11-01T10:00:00.000Z") -> String {
        let links = chain.map { #"{"key":"\#($0)","until":"2027-02-20T00:00:00Z","subject":"CN=x"}"# }.joined(separator: ",")
        return #"{"ts":"\#(time)","id":"1","tls":{"host":"\#(host)","chain":[\#(links)]},"bytes":1}"#
    }

    private func read(_ text: String, of servers: [ChainLog.Server] = []) throws -> ChainLog {
        let folder = try TemporaryFolder()
        return try ChainLog.reading(try folder.write(text, to: "log"), of: servers)
    }

    @Test("Servers that a running Larder has verified, for GET and for CONNECT, are learned with every key that was seen")
    func learns() throws {
        let stage = try PinnedStage()
        let identities = [stage.authority.identity(), stage.authority.identity()]
        var origin = stage.serve(identities[0])
        try FileManager.default.createDirectory(atPath: "\(stage.folder.path)/pins.d", withIntermediateDirectories: true)
        _ = try stage.folder.write("other.example: {pins: {of: \(Self.keys[2])}}\n", to: "pins.d/other.yaml")
        let host = "127.0.0.1:\(origin.port)"
        let larder = try ServeTests.Served(
            """
            tunnel: {ports: any}
            tls:
              default: {anchors: {bundle: root.pem}, connect: probe}
              connect: {verdict_ttl: 0s}
              pins_from: pins.d
            """, in: stage.folder)
        let port = UInt16(try #require(try larder.ports().first))
        func fetch() throws {
            let client = try RawClient(port: port, owner: larder)
            client.send("GET https://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n")
            #expect(try client.readResponse(to: "GET").text == "secret")
        }
        for _ in 0..<3 { try fetch() }
        stage.stop(origin)
        origin = stage.serve(identities[1], port: origin.port)
        try fetch()
        // For a tunnel to an address, the server is verified by the name in the ClientHello: here by the address itself.
        let client = try RawClient(port: port, owner: larder)
        client.send("CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        do {
            let secure = TLSClient(client, serverName: nil)
            #expect(secure.handshake() == .done)
            #expect(secure.fetch("/", until: "secret").hasSuffix("secret"))
        }
        client.endSending()
        larder.signal(SIGTERM)
        #expect(larder.hasEnded())

        let arguments = ["-c", larder.settings, "--set", "log.access.path=\(stage.folder.path)/access.log"]
        let shown = try CommandLineTests.larder(["pins", "learn", "--from-log"] + arguments)
        #expect(shown.code == 0, "\(shown)")
        let pins = try identities.map { "\(try PinnedStage.pin($0))" }
        #expect(shown.output.contains("of: [\"\(pins[1])\", \"\(pins[0])\"]\n"), "\(shown)")
        #expect(
            shown.output.contains("#   handshakes 1, first 20") && shown.output.contains("#   handshakes 2, first 20"), "\(shown)"
        )
        #expect(shown.output.contains("# the log has 2 leaf keys, and each of them is pinned"))
        #expect(shown.output.contains("    bundle: \(stage.folder.path)/root.pem\n"))
        #expect(shown.output.contains("    connect: probe\n") || shown.output.contains("  connect: probe\n"))

        let written = try CommandLineTests.larder(["pins", "learn", host, "--from-log", "--write"] + arguments)
        #expect(written.code == 0 && written.talk.contains("127.0.0.1_\(origin.port).yaml; run larder reload"), "\(written)")
        let check = try CommandLineTests.larder(["pins", "check", host] + arguments)
        #expect(check.code == 0 && check.output.contains("good"), "\(check)")
        // A server that has a policy by now is learned only if it is named.
        let again = try CommandLineTests.larder(["pins", "learn", "--from-log", "--write"] + arguments)
        #expect(again.code == 0 && again.talk.contains("\(host) already has a policy, at ") && again.output.isEmpty, "\(again)")
        #expect(try CommandLineTests.larder(["pins", "learn", host, "--from-log", "--write"] + arguments).code == 1)
        // A server whose host already has enforced pins is not learned either.
        let wide = try stage.folder.write(
            """
            tls:
              default: {anchors: {bundle: root.pem}}
              hosts: {127.0.0.1: {anchors: {bundle: root.pem}, pins: {of: "\(pins[0])", backup: "\(pins[1])"}}}

            """, to: "wide.yaml")
        let covered = try CommandLineTests.larder(["pins", "learn", "--from-log"] + ["-c", wide] + arguments.dropFirst(2))
        #expect(covered.talk.contains("\(host) already has a policy, at \(wide):3:") && covered.output.isEmpty, "\(covered)")
        let stranger = try CommandLineTests.larder(["pins", "learn", "a.example", "--from-log"] + arguments)
        #expect(
            stranger.code == 1 && stranger.talk.contains("the log says that the server's certificate was not verified"),
            "\(stranger)")
    }

    @Test("Each chain has its count and its first time, in any order of the lines")
    func counts() throws {
        let log = try read(
            [
                Self.line("a.test:443", [Self.keys[0], Self.keys[2]], at: "2026-11-03T10:00:00.000Z"),
                #"{"ts":"2026-11-03T10:00:00.000Z","id":"2","url":"http://a.test/\"tls\":{","status":200}"#,
                Self.line("a.test:443", [Self.keys[1], Self.keys[2]], at: "2026-11-04T10:00:00.000Z"),
                Self.line("a.test:443", [Self.keys[0], Self.keys[2]], at: "2026-11-01T10:00:00.000Z"),
                Self.line("[2001:db8::1]:8443", [Self.keys[1]]), "",
            ].joined(separator: "\n"))
        #expect(log.notes.isEmpty)
        let seen = try #require(log.sightings[ChainLog.Server(host: "a.test", port: 443)])
        #expect(seen.map(\.count) == [2, 1])
        #expect(seen[0].first == "2026-11-01T10:00:00.000Z" && seen[0].last == "2026-11-03T10:00:00.000Z")
        #expect(log.sightings[ChainLog.Server(host: "2001:db8::1", port: 8443)]?.count == 1)
        let one = try read(Self.line("a.test:443", [Self.keys[0]]), of: [ChainLog.Server(host: "b.test", port: 443)])
        #expect(one.sightings.isEmpty)
    }

    @Test("Lines that Larder did not write are reported with their numbers, and nothing is learned from them")
    func passesOver() throws {
        let bad = [
            "{\"ts\":\"2026", "not JSON", Self.line("a.test:443", ["sha256/AAAA"]), Self.line("*.test:443", [Self.keys[0]]),
            Self.line("a.test:443", []), Self.line("a.test:443", Array(repeating: Self.keys[0], count: 11)),
            Self.line("a.test:443", [Self.keys[0]], at: "yesterday"), Self.line("a.test", [Self.keys[0]]),
            "{\(String(repeating: "x", count: ChainLog.lineLimit))}",
        ]
        let log = try read((bad + [Self.line("b.test:443", [Self.keys[0]])]).joined(separator: "\n"))
        #expect(log.notes.count == bad.count)
        #expect(log.notes.first == "line 1 is skipped: the line is not a complete JSON object")
        #expect(log.notes.last == "line 9 is skipped: the line is too long")
        #expect(log.sightings.keys.map(\.host) == ["b.test"])
        #expect(throws: ChainLog.Unusable.self) { try read("1795231507.226 16 127.0.0.1 TCP_MISS/200 4749 GET x\n") }
        #expect(throws: ChainLog.Unusable.self) { try ChainLog.reading("/nonexistent", of: []) }
        #expect(try read("").sightings.isEmpty)
    }

    @Test("The number of reported lines, and of chains per server, is limited; the excess is counted")
    func isBounded() throws {
        let bad = Array(repeating: "x", count: ChainLog.noteLimit + 2)
        let chains = (0..<(ChainLog.chainLimit + 3)).map { number in
            let octets = [UInt8](repeating: 0, count: 31) + [UInt8(number)]
            return Self.line("a.test:443", ["sha256/\(Data(octets).base64EncodedString())"])
        }
        let log = try read((bad + chains).joined(separator: "\n"))
        #expect(log.sightings.values.map(\.count) == [ChainLog.chainLimit])
        #expect(
            Array(log.notes.suffix(2)) == [
                "2 further lines are skipped",
                "3 handshakes with other servers or chains are left out: Larder lists at most 10000 servers, and 16 chains per server",
            ])
    }

    @Test("If the settings name no log, or --pins-only would need a connection, an error says so")
    func refuses() throws {
        let stage = try PinnedStage()
        let settings = try stage.settings("tls: {default: {anchors: {bundle: root.pem}}}\n")
        let bare = try CommandLineTests.larder("pins", "learn", "--from-log", "-c", settings)
        #expect(bare.code == 2 && bare.talk.contains("give --from-log=FILE"), "\(bare)")
        #expect(try CommandLineTests.larder("pins", "learn", "-c", settings).code == 2)
        #expect(try CommandLineTests.larder("pins", "learn", "--from-log", "--pins-only", "--write", "-c", settings).code == 2)
        let log = try stage.folder.write(Self.line("a.test:443", [Self.keys[0]]) + "\n", to: "log")
        let short = try CommandLineTests.larder("pins", "learn", "--from-log=\(log)", "--pin", "root", "-c", settings)
        #expect(short.code == 1 && short.talk.contains("a.test: the server's chains have no root certificate"), "\(short)")
        let used = try CommandLineTests.larder("pins", "learn", "--from-log=\(log)", "--backup", Self.keys[0], "-c", settings)
        #expect(used.code == 1 && used.talk.contains("already uses the backup"), "\(used)")
        let good = try CommandLineTests.larder("pins", "learn", "--from-log=\(log)", "--backup", Self.keys[1], "-c", settings)
        #expect(good.code == 0 && good.output.contains("a.test:\n"), "\(good)")
    }
}
