import EventLoop
import TestSupport

/// An origin with one entity that supports ranges, and handles each request as scripted, correctly or not.
final class PartialOrigin: Sendable {
    enum Conduct: Sendable {
        case serve
        /// Ends the connection after this many bytes of the entity.
        case cut(at: Int)
        /// As if it did not support ranges.
        case ignoreRange
        /// 206 with bytes from another offset, with a matching Content-Range.
        case wrongStart(by: Int)
        /// 206 with a body longer or shorter than its range.
        case wrongLength(by: Int)
        /// 206 with another total length in Content-Range.
        case wrongTotal
        /// Answers a range with 416 and this length.
        case unsatisfiable(total: Int)
        /// Only the first bytes of the requested range, at most this many.
        case short(of: Int)
        /// Ignores If-Range and sends a range of this other entity, without its entity tag.
        case silentChange([UInt8])
        /// From now on the entity is this one.
        case change([UInt8], entityTag: String)
        case refuse(Int)
    }

    let port: UInt16
    private let origin: ScriptedOrigin

    var uri: String { "http://127.0.0.1:\(port)/entity" }
    var requestHeads: [String] { origin.requestHeads }
    func stop() { origin.stop() }

    private struct Entity {
        var content: [UInt8]
        var tag: String
        var requests = 0
    }

    /// - Parameter conduct: for the request with this number, from 1.
    init(_ content: [UInt8], entityTag: String, port: UInt16 = 0, _ conduct: @escaping @Sendable (Int) -> Conduct) {
        let entity = Guarded(Entity(content: content, tag: entityTag))
        origin = ScriptedOrigin.answering(port: port) { request, connection in
            let (now, step): (Entity, Conduct) = entity.withLock { entity in
                entity.requests += 1
                let step = conduct(entity.requests)
                if case .change(let content, let tag) = step {
                    entity.content = content
                    entity.tag = tag
                }
                return (entity, step)
            }
            return Self.answer(request, connection, now, step)
        }
        self.port = origin.port
    }

    private static func answer(
        _ request: OriginRequest, _ connection: borrowing OriginConnection, _ entity: Entity, _ conduct: Conduct
    ) -> Bool {
        if case .refuse(let status) = conduct { return connection.respond("\(status) No", body: "no") }
        if case .silentChange(let other) = conduct, let first = request["Range"].flatMap({ Int($0.dropFirst(6).dropLast()) }),
            first < other.count
        {
            return connection.send(
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes \(first)-\(other.count - 1)/\(other.count)\r\n"
                    + "Content-Length: \(other.count - first)\r\n\r\n") && connection.send(bytes: Array(other[first...]))
        }
        let tagField = entity.tag.isEmpty ? "" : "ETag: \(entity.tag)\r\n"
        let total = entity.content.count
        var start: Int?
        if let range = request["Range"], request["If-Range"] == entity.tag, !entity.tag.isEmpty, !entity.tag.hasPrefix("W/") {
            start = Int(range.dropFirst("bytes=".count).dropLast())
        }
        if case .ignoreRange = conduct { start = nil }
        guard var first = start else {
            var end = total
            if case .cut(let limit) = conduct { end = min(limit, total) }
            guard connection.send("HTTP/1.1 200 OK\r\n\(tagField)Content-Length: \(total)\r\n\r\n") else { return false }
            return connection.send(bytes: Array(entity.content[..<end])) && end == total
        }
        if case .unsatisfiable(let length) = conduct {
            return connection.respond("416 No", fields: "\(tagField)Content-Range: bytes */\(length)\r\n")
        }
        guard first < total else {
            return connection.respond("416 No", fields: "\(tagField)Content-Range: bytes */\(total)\r\n")
        }
        var (last, toldTotal, sent) = (total - 1, total, total)
        switch conduct {
        case .wrongStart(let distance): first = max(0, min(total - 1, first + distance))
        case .wrongTotal: toldTotal = total + 1
        case .short(let length): last = min(last, first + length - 1)
        case .cut(let limit): sent = max(first, min(limit, total))
        default: break
        }
        var octets = Array(entity.content[first..<min(sent, last + 1)])
        var told = last - first + 1
        if case .wrongLength(let difference) = conduct {
            told = max(1, told + difference)
            octets = Array((octets + octets + octets).prefix(told))
        }
        let head =
            "HTTP/1.1 206 Partial Content\r\n\(tagField)Content-Range: bytes \(first)-\(last)/\(toldTotal)\r\nContent-Length: \(told)\r\n\r\n"
        guard connection.send(head), connection.send(bytes: octets) else { return false }
        return octets.count == told
    }
}
