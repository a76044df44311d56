import Testing

@testable import BodyTransforms

@Suite("Gathered bodies")
struct GatheredBodyTests {
    private func octets(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) } }

    @Test(
        "The gathered bytes equal the appended bytes, whatever length was reserved", arguments: [nil, 0, 10, 300_000, 5_000_000])
    func gathers(told: Int?) throws {
        let checks = try CheckPool()
        defer { checks.stop() }
        let whole = octets(3_000_000)
        let body = GatheredBody(checks)
        if let told { body.reserve(told) }
        var place = 0
        for length in [0, 1, 999, 64 << 10, 65_537, 1, 200_000, 1_500_000, .max] {
            let end = min(whole.count, place + min(length, whole.count))
            body.append(whole.span.extracting(place..<end))
            place = end
            #expect(body.count == place && body.pieces.reduce(0) { $0 + $1.count } == place)
        }
        #expect(body.joined == whole)
        body.replace(by: whole)
        #expect(body.pieces.count == 1 && body.joined == whole && body.memory == whole.count)
    }

    @Test("Pieces stay in place while more bytes arrive, except short ones")
    func staysInPlace() throws {
        let checks = try CheckPool()
        defer { checks.stop() }
        let piece = octets(64 << 10)
        for told in [nil, 8 << 20] {
            let body = GatheredBody(checks)
            if let told { body.reserve(told) }
            var places: [Int: UnsafeRawPointer] = [:]
            for _ in 0..<128 {
                body.append(piece.span)
                for (number, piece) in body.pieces.enumerated() {
                    let place = piece.withUnsafeBytes { $0.baseAddress }
                    #expect(places[number] == nil || places[number] == place)
                    places[number] = place
                }
            }
            #expect(body.pieces.count == (told == nil ? body.pieces.count : 1) && body.pieces.count < 20)
        }
    }
}
