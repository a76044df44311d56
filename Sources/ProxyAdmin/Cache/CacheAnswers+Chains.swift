import HTTPMessage
import ResponseStore
import TextCoding

/// The certificate chains recorded for https origins, for a client that verifies them: `{"origins": [{"origin", "time", "record"}, …],
/// "complete"}`, with the record in hexadecimal digits.
extension CacheAnswers {
    package static func chains(_ source: CacheSource) -> () -> AdminPiece {
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
            return .piece(Array(((isFirst ? "" : ",") + json(origin).written()).utf8))
        }
    }

    private static func json(_ origin: (key: String, value: ChainListing.Recorded)) -> JSONText {
        .object([
            ("origin", .string(printable(origin.key, limit: 512))), ("time", .string(origin.value.time.rfc3339)),
            ("record", .string(Hexadecimal.encode(origin.value.chain.octets))),
        ])
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
