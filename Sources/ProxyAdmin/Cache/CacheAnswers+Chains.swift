import HTTPMessage
import ResponseStore
import TextCoding

/// The certificate chains recorded for https origins, for a client that verifies them: `{"origins": [{"origin", "time", "record"}, …],
/// "complete"}`, with the record in hexadecimal digits.
extension CacheAnswers {
    package static func chains(_ source: CacheSource) -> () -> AdminPiece {
        origins(source) { origin, record, time in
            .object([
                ("origin", .string(origin)), ("time", .string(time.rfc3339)), ("record", .string(Hexadecimal.encode(record))),
            ])
        }
    }

    /// `{"origins": […], "complete"}`, with one value for each origin with a recorded chain.
    package static func origins(
        _ source: CacheSource, json: @escaping (_ origin: String, _ record: [UInt8], Timestamp) -> JSONText
    ) -> () -> AdminPiece {
        var listing = ChainListing()
        var left: [(key: String, value: ChainListing.Recorded)]?
        var isFirst = true
        var isOver = false
        return {
            if isOver { return .end }
            guard let next = left else {
                guard let read = source.chains(listing) else { return .broken }
                listing = read
                guard read.isAtEnd else { return .piece([]) }
                left = read.origins.sorted { $0.key < $1.key }
                return .piece(Array("{\"origins\":[".utf8))
            }
            guard let origin = next.first else {
                isOver = true
                return .piece(Array("],\"complete\":\(!listing.isCut)}\n".utf8))
            }
            left = Array(next.dropFirst())
            defer { isFirst = false }
            let value = json(printable(origin.key, limit: 512), Array(origin.value.chain.octets), origin.value.time)
            return .piece(Array(((isFirst ? "" : ",") + value.written()).utf8))
        }
    }
}
