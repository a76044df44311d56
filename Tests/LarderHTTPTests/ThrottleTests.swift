import EventLoop
import HTTPSerialization
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: throttled content")
struct ThrottleTests {
    private static let content = PatternBytes.make(20_000, seed: 7)

    /// The content in each form, with its complete bytes.
    private static func bodies(_ folder: TemporaryFolder) throws -> [(name: String, request: SessionRequest)] {
        folder.write(content, to: "content")
        let path = folder.path("content")
        var form = MultipartForm()
        try form.append("file", file: path)
        let content = content
        let stream = BodyStream(
            length: UInt64(content.count),
            replaying: {
                AsyncStream<[UInt8]> { continuation in
                    continuation.yield(content)
                    continuation.finish()
                }
            })
        return try [
            ("memory", SessionRequest(.post, "/", body: .octets(content))),
            ("file", SessionRequest(.post, "/", body: .file(path: path))),
            ("stream", SessionRequest(.post, "/", body: .stream(stream))),
            ("form", SessionRequest(.post, "/", parameters: form, as: MultipartRequestSerializer())),
        ]
    }

    @Test("Only one packet is sent before the first pause; the pause ends with the transfer")
    func sendsOnePacket() async throws {
        let folder = try TemporaryFolder()
        for (name, request) in try Self.bodies(folder) {
            for isOption in [false, true] {
                let (first, rest) = (SentCount(), SentCount())
                let origin = ScriptedOrigin { connection in
                    guard connection.readHead() != nil, connection.read(count: 1000) != nil else { return }
                    first.add(1)
                    rest.add(connection.readToEnd().count)
                }
                // Without the cancellation below, the second packet would come in an hour.
                let throttle = PacketThrottle(packetLength: 1000, pause: .seconds(3600))
                let session = try HTTPSession.plain { if !isOption { $0.throttle = throttle } }
                var request = request
                request.target = origin.uri()
                if isOption { request.options.throttle = throttle }
                let transfer = Transfer()
                let sending = Task { [request] in
                    try await HTTPSession.failure { try await session.send(request, as: transfer) }
                }
                try await until { first.value == 1 }
                transfer.cancel()
                #expect(try await sending.value.code == .cancelled)
                origin.stop()
                #expect(rest.value == 0, "\(name), as an option: \(isOption)")
            }
        }
    }

    @Test("Throttled content arrives complete, with its length announced")
    func sendsAll() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            let isWhole = body == Self.content || body.count > Self.content.count
            return connection.respond(body: "\(request["Content-Length"] == "\(body.count)") \(isWhole)")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let folder = try TemporaryFolder()
        for (name, request) in try Self.bodies(folder) {
            var request = request
            request.target = origin.uri()
            request.options.throttle = PacketThrottle(packetLength: 999, pause: .zero)
            #expect(try await session.send(request).text == "true true", "\(name)")
        }
        var empty = SessionRequest(.post, origin.uri(), body: .octets([]))
        empty.options.throttle = .thirdGeneration
        #expect(try await session.send(empty).text == "true false")
    }
}
