import Foundation
import HTTPMessage
import ProxyServer
import Recordings
import ServerTrust
import TestSupport
import Testing
import UpstreamTransport

@testable import LarderSettings

@Suite("Files of the previous version")
struct PreviousVersionTests {
    private static let authority = "stored.test:18931"

    /// A file of Tests/PreviousVersion, decompressed into the folder.
    private static func unpack(_ name: String, into folder: TestFolder) throws -> String {
        let path = "\(folder.path)/\(name)"
        let packed = try Data(contentsOf: file(name + ".gz"))
        try Data(Gzip.unpack(Array(packed))).write(to: URL(filePath: path))
        return path
    }

    private static func file(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "PreviousVersion/\(name)")
    }

    private static func fetch(_ path: String, fields: String = "", through proxy: TestProxy) throws -> ReceivedResponse {
        let client = try RawClient(port: proxy.port)
        client.send("GET http://\(authority)\(path) HTTP/1.1\r\nHost: \(authority)\r\n\(fields)\r\n")
        return try client.readResponse()
    }

    @Test(
        "A store of the previous version opens; whole responses, variants and parts are served from it",
        arguments: ["live", "offline"])
    func servesStore(mode: String) throws {
        let folder = try TestFolder()
        _ = try Self.unpack("store.sqlite", into: folder)
        // Nothing listens at the origin's port, so only stored responses can be served.
        let proxy = try TestProxy(
            "{mode: \(mode), tunnel: {ports: any}, resolve: {stored.test: 127.0.0.9}}", storePath: nil, folder: folder)
        defer { proxy.stop() }
        let whole = try Self.fetch("/whole", through: proxy)
        #expect(whole.text == "whole /whole" && whole.cacheStatus.hasPrefix("Larder; hit"))
        for language in ["en", "de"] {
            let variant = try Self.fetch("/variant", fields: "Accept-Language: \(language)\r\n", through: proxy)
            #expect(variant.text == "variant \(language)" && variant.cacheStatus.hasPrefix("Larder; hit"))
        }
        #expect(try Self.fetch("/variant", fields: "Accept-Language: fr\r\n", through: proxy).status >= 500)
        let content = (0..<6144).flatMap { Array(SHA256Digest(of: Array("\($0)".utf8)).octets) }
        for range in [16_384...32_767, 100_010...100_019] {
            let part = try Self.fetch(
                "/part", fields: "Range: bytes=\(range.lowerBound)-\(range.upperBound)\r\n", through: proxy)
            #expect(part.status == 206 && part.body == Array(content[range]))
            #expect(part.cacheStatus.hasPrefix("Larder; hit"))
        }
    }

    @Test("A recording of the previous version is replayed")
    func replaysRecording() throws {
        let folder = try TestFolder()
        let path = try Self.unpack("recording.larder", into: folder)
        let layers = try Recorder.layers([path]) { $0.key = nil }
        let proxy = try TestProxy("{mode: replay, replay: {layers: [x]}, tunnel: {ports: any}}", change: { $0.layers = layers })
        defer { proxy.stop() }
        #expect(try Self.fetch("/whole", through: proxy).text == "whole /whole")
        let variant = try Self.fetch("/variant", fields: "Accept-Language: de\r\n", through: proxy)
        #expect(variant.status == 200 && variant.text == "variant de")
        #expect(try Self.fetch("/part", through: proxy).code == "offline_miss")
    }

    @Test("Every setting of the previous version is read, with one warning for each name that has changed")
    func readsSettings() throws {
        let path = Self.file("settings.yaml").path
        let loaded = SettingsSources(file: path, environment: [:]).load()
        guard case .settings(let settings) = loaded.outcome else {
            Issue.record("\(loaded.outcome)")
            return
        }
        #expect(settings.timeouts.connect == .seconds(11))
        #expect(settings.limits.fieldCount == 120)
        #expect(settings.store.memory.bodyLengthLimit == 3 << 20)
        #expect(settings.tls.connect.verdictTTL == .seconds(300))
        let changed = RenamedSetting.all.map(\.old) + RemovedSetting.all.map(\.name)
        #expect(loaded.warnings.count == changed.count)
        for name in changed { #expect(loaded.warnings.contains { $0.contains(" \(name) was ") }, "\(name)") }
    }

    @Test("The fixed values that warnings give are those in use")
    func givesFixedValues() {
        let serving = ServerSettings()
        let replay = ReplaySources.Limits()
        let used: [String: String] = [
            "limits.chunk_line": "\(serving.parseLimits.chunkLineLength) bytes",
            "limits.trailers": "\(serving.parseLimits.trailerSectionLength >> 10) KiB",
            "limits.gathered_requests": "\(serving.proxyLimits.gatheredRequestBytes >> 20) MiB",
            "limits.transformed_bodies": "\(serving.proxyLimits.transformedBytes >> 20) MiB",
            "timeouts.first_octets": "\(serving.timeouts.firstOctets / 1000) s",
            "timeouts.half_closed": "\(serving.timeouts.halfClosed / 1000) s",
            "upstream.queue": "\(UpstreamBudgets.usualQueueLength) requests",
            "replay.max_whole_body": "\(replay.wholeLength >> 20) MiB",
            "replay.max_decoded_body": "\(replay.decodedLength >> 20) MiB",
            "replay.max_sessions": "\(replay.sessions) clients",
            "replay.max_open_bodies": "\(replay.openBodies) bodies",
            "traces.memory": "\(serving.traceLimits.byteCount >> 20) MiB",
        ]
        #expect(Dictionary(uniqueKeysWithValues: RemovedSetting.all.map { ($0.name, $0.value) }) == used)
    }
}
