import AsyncHTTPClient
import Foundation
import NIOCore

/// async-http-client's part, with one event loop and no other settings than more connections.
struct PeerWork {
    func get(_ url: String, count: Int, inFlight: Int) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 128
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let ask: @Sendable () async throws -> Void = {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1 << 20)
            guard response.status == .ok, body.readableBytes == 1024 else { fatalError("not the body") }
        }
        try await run(500, inFlight: inFlight, ask)
        let measure = Measure()
        try await run(count, inFlight: inFlight, ask)
        print(measure.microseconds / Double(count))
        try await client.shutdown()
    }
}
