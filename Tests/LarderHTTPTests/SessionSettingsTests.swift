import Foundation
import HTTPCaching
import HTTPSerialization
import LarderHTTP
import TestSupport
import Testing

@Suite("Settings of a session in a file")
struct SessionSettingsTests {
    private static func settings(_ text: String) throws -> SessionSettings {
        try JSONDecoder().decode(SessionSettings.self, from: Data(text.utf8))
    }

    private static func duration(_ generator: inout SeededGenerator) -> Duration {
        let attoseconds = Bool.random(using: &generator) ? 0 : Int64.random(in: 0..<1_000_000_000_000_000_000, using: &generator)
        return Duration(secondsComponent: Int64.random(in: 0...100_000, using: &generator), attosecondsComponent: attoseconds)
    }

    private static func random(_ generator: inout SeededGenerator) -> SessionSettings {
        var settings = SessionSettings()
        if Bool.random(using: &generator) { settings.base = "https://a.example/\(UInt8.random(in: 0...9, using: &generator))" }
        settings.defaultFields = ["Accept": "*/*", "X-\(Int.random(in: 0...9, using: &generator))": "é\""]
        settings.timeouts.queue = duration(&generator)
        settings.timeouts.total = duration(&generator)
        settings.limits.activeExchanges = Int.random(in: 1...9999, using: &generator)
        settings.limits.idleConnectionTime = duration(&generator)
        settings.threads = Int.random(in: 1...8, using: &generator)
        let limit = Int.random(in: 0...20, using: &generator)
        settings.redirects = [.follow(atMost: limit), .sameSite(atMost: limit), .deliver, .deny].randomElement(using: &generator)!
        settings.retries.jitter = Double.random(in: 0...1, using: &generator)
        settings.retries.delay = duration(&generator)
        settings.retries.statuses = Set((0..<limit).map { 400 + $0 })
        settings.retries.errors = Set(SessionError.Code.allCases.shuffled(using: &generator).prefix(3))
        settings.decodesContent = Bool.random(using: &generator)
        settings.cachePolicy = CachePolicy.allCases.randomElement(using: &generator)!
        settings.proxy = [nil, .environment, .server(host: "proxy.test", port: UInt16(limit))].randomElement(using: &generator)!
        settings.offersHTTP2 = Bool.random(using: &generator)
        settings.resolve = ["a.test": ["127.0.0.1"]]
        return settings
    }

    @Test("Encoding and decoding gives equal settings, with Foundation's coders and with ours", arguments: 0..<50)
    func roundTrips(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let settings = Self.random(&generator)
        #expect(try JSONDecoder().decode(SessionSettings.self, from: JSONEncoder().encode(settings)) == settings)
        #expect(try JSONValueDecoder().decode(SessionSettings.self, from: JSONValueEncoder().encode(settings)) == settings)
    }

    @Test("Missing keys keep the defaults of a configuration")
    func hasDefaults() throws {
        let settings = try Self.settings(#"{"timeouts": {"connect": "500ms", "total": "1.5h"}, "limits": {}}"#)
        var expected = SessionSettings()
        expected.timeouts.connect = .milliseconds(500)
        expected.timeouts.total = .seconds(5400)
        #expect(settings == expected)
        let (made, plain) = (try SessionConfiguration(SessionSettings()), SessionConfiguration())
        #expect(made.limits == plain.limits && made.timeouts == plain.timeouts && made.defaultFields == plain.defaultFields)
        #expect(made.retries == plain.retries && made.threads == plain.threads && made.cachePolicy == plain.cachePolicy)
        #expect(made.proxy == nil && made.base == nil && made.decodesContent == plain.decodesContent)
    }

    @Test(
        "An unknown key and a malformed value are errors with their path",
        arguments: [
            (#"{"timeout": {}}"#, "unknown key timeout;"), (#"{"timeouts": {"conect": "1s"}}"#, "unknown key timeouts.conect;"),
            (#"{"proxy": {"host": "a", "port": 1, "user": "x"}}"#, "unknown key proxy.user;"),
            (#"{"redirects": {"kind": "never"}}"#, "redirects.kind: "),
            (#"{"retries": {"errors": ["slow"]}}"#, "retries.errors: slow "),
            (#"{"timeouts": {"idle": "5"}}"#, "timeouts.idle: "), (#"{"timeouts": {"idle": "-5s"}}"#, "timeouts.idle: "),
            (#"{"proxy": "system"}"#, "proxy: "), (#"{"proxy": {"host": "a"}}"#, "proxy.port: "),
            (#"{"cachePolicy": "often"}"#, "cachePolicy: "),
        ])
    func refuses(text: String, description: String) throws {
        let error = #expect(throws: DecodingError.self) { try Self.settings(text) }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.debugDescription.hasPrefix(description), "\(context.debugDescription)")
    }

    @Test("A session obeys its settings")
    func applies() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            request.target == "/v1/new"
                ? connection.respond("200 OK", body: request["X-Name"] ?? "none")
                : connection.respond("302 Found", fields: "Location: /v1/new\r\n")
        }
        defer { origin.stop() }
        func status(_ redirects: String) async throws -> Int {
            let settings = try Self.settings(
                """
                {"base": "http://a.test:\(origin.port)/v1", "resolve": {"a.test": ["127.0.0.1"]}, "defaultFields": {"X-Name": "x"},
                 "redirects": \(redirects)}
                """)
            return try await HTTPSession(configuration: SessionConfiguration(settings)).get("old").status
        }
        #expect(try await status(#"{"kind": "follow", "atMost": 1}"#) == 200)
        #expect(try await status(#"{"kind": "deliver"}"#) == 302)
        await #expect(throws: SessionError(.redirectRefused)) { try await status(#"{"kind": "deny"}"#) }
        var settings = SessionSettings()
        settings.base = "no base"
        #expect(throws: SessionError(.badURL)) { try SessionConfiguration(settings) }
    }
}
