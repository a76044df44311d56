import HTTPMessage
import TestSupport
import Testing

@testable import HTTP2Wire

/// A client and a server in memory. Bytes cross in pieces of random sizes.
final class Pair {
    let client: Endpoint
    let server: Endpoint
    private var chance: SeededGenerator

    init(
        seed: UInt64 = 1, clientLimits: HTTP2Limits = HTTP2Limits(), serverLimits: HTTP2Limits = HTTP2Limits(),
        permitsExtendedConnect: Bool = false
    ) throws {
        client = try Endpoint(.client, limits: clientLimits)
        server = try Endpoint(.server, limits: serverLimits, permitsExtendedConnect: permitsExtendedConnect)
        chance = SeededGenerator(seed: seed)
        exchange()
        client.forget()
        server.forget()
    }

    /// Moves bytes until neither side has any to send.
    func exchange() {
        while client.session.hasOutput || server.session.hasOutput {
            move(from: client, to: server)
            move(from: server, to: client)
        }
    }

    private func move(from sender: Endpoint, to receiver: Endpoint) {
        var bytes = sender.send()[...]
        while !bytes.isEmpty {
            let piece = bytes.prefix(1 + chance.below(chance.chance(50) ? 20 : 20_000))
            receiver.receive(Array(piece))
            bytes = bytes.dropFirst(piece.count)
        }
    }

    /// Sends all of the content, as the windows open.
    func send(_ content: [UInt8], on stream: HTTP2StreamID, of sender: Endpoint) throws {
        var rest = content[...]
        repeat {
            let piece = rest.prefix(1 + chance.below(30_000))
            let isLast = piece.count == rest.count
            let taken = try piece.withUnsafeBytes { try sender.session.submitData(stream, $0, end: isLast) }
            rest = rest.dropFirst(taken)
            exchange()
        } while !rest.isEmpty
    }
}

extension ResponseHead {
    init(_ code: UInt16, _ fields: [(String, String)] = []) {
        self.init()
        status = Status(code)
        for (name, value) in fields { self.fields.append(name: name, value: value) }
    }
}

extension Fields {
    init(_ fields: [(String, String)]) {
        self.init()
        for (name, value) in fields { append(name: name, value: value) }
    }
}

extension RequestHead {
    static func make(_ method: Method, _ uri: String, _ fields: [(String, String)] = []) throws -> RequestHead {
        let bytes = Array(uri.utf8)
        let parsed = RequestHead(uri: bytes.span, method: method)
        var head = try #require(parsed)
        for (name, value) in fields { head.fields.append(name: name, value: value) }
        return head
    }
}
