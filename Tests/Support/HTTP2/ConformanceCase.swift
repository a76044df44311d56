import HTTP2Wire
import HTTPMessage

/// One requirement of RFC 9113 or RFC 7541 on a recipient: bytes of a peer, and the reaction that the requirement permits.
package struct ConformanceCase: Sendable {
    package enum Start: Sendable {
        /// Nothing has been received.
        case server, client
        /// Prefaces and settings are exchanged; a client has also sent the requests.
        case serverReady, clientReady([Method])
        /// As `serverReady`, with extended CONNECT announced.
        case serverReadyForExtendedConnect
    }

    package let section: String
    package let sentence: String
    package let start: Start
    package let bytes: [UInt8]
    package let expected: Reaction
    /// How many heads the session reports.
    package let heads: Int?

    package var name: String { "§\(section) \(sentence)" }

    /// Whether the reaction depends on a recipient that takes no content out of its session.
    package var needsStoppedReader: Bool { sentence.hasPrefix("Content beyond the stream window is a flow-control error") }

    static func server(
        _ section: String, _ sentence: String, _ frames: [Frame], _ expected: Reaction, heads: Int? = nil,
        start: Start = .serverReady
    ) -> ConformanceCase {
        ConformanceCase(
            section: section, sentence: sentence, start: start, bytes: frames.flatMap(\.bytes), expected: expected, heads: heads)
    }

    static func client(
        _ section: String, _ sentence: String, _ frames: [Frame], _ expected: Reaction, heads: Int? = nil,
        requests: [Method] = [.get]
    ) -> ConformanceCase {
        ConformanceCase(
            section: section, sentence: sentence, start: .clientReady(requests), bytes: frames.flatMap(\.bytes),
            expected: expected,
            heads: heads)
    }

    /// A request head on stream 1 that is the only thing a client sends.
    static func request(
        _ section: String, _ sentence: String, _ fields: [(String, String)], _ expected: Reaction, heads: Int? = nil,
        start: Start = .serverReady
    ) -> ConformanceCase {
        server(
            section, sentence, [.headers(1, fields)], expected, heads: heads ?? (expected == .accepted ? 1 : 0), start: start)
    }

    /// As `request`; the field block is raw.
    static func block(
        _ section: String, _ sentence: String, _ block: [UInt8], _ expected: Reaction, heads: Int? = nil
    ) -> ConformanceCase {
        server(
            section, sentence, [.headers(1, block: block, flags: Frame.endHeaders | Frame.endStream)], expected,
            heads: heads ?? (expected == .accepted ? 1 : 0))
    }

    /// A response head to a GET request on stream 1.
    static func response(
        _ section: String, _ sentence: String, _ fields: [(String, String)], _ expected: Reaction, heads: Int? = nil
    ) -> ConformanceCase {
        client(section, sentence, [.headers(1, fields)], expected, heads: heads ?? (expected == .accepted ? 1 : 0))
    }

    package static let all =
        connections + frames + streams + data + headers + priorityAndReset + settings + pushAndPing + goAwayAndWindows
        + continuations + messages + fieldNames + requests + responses + connects + compression + mirrored
}
