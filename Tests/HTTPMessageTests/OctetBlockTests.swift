import Testing

@testable import HTTPMessage

@Suite("Searches over sixteen bytes at a time")
struct OctetBlockTests {
    @Test("Every byte value is classified as control or not, at every position in a block", arguments: 0...255)
    func findsControls(octet: Int) {
        let isControl = octet < 0x20 || octet == 0x7F
        for place in 0..<40 {
            var bytes = [UInt8](repeating: 0x80, count: 40)
            bytes[place] = UInt8(octet)
            let found = bytes.span.firstControl(from: 0)
            #expect(found == (isControl ? place : 40))
        }
    }

    @Test("The search finds the first of several matches at or after the start", arguments: 0..<40)
    func findsFirst(start: Int) {
        let bytes = Array(repeating: Array("abcdefgh:0\r\n".utf8), count: 4).joined()
        let all = Array(bytes)
        #expect(all.span.firstControl(from: start) == all[start...].firstIndex { $0 < 0x20 })
        let found = all.span.extracting(0..<40).firstColon(from: start)
        #expect(found == all[start..<40].firstIndex(of: 0x3A) ?? 40)
    }

    @Test("Equal bytes compare as equal, and a difference of one byte is found", arguments: 0..<40)
    func comparesOctets(count: Int) {
        let bytes = (0..<UInt8(count)).map { $0 }
        let isSame = bytes.span.isSame(as: Array(bytes).span)
        #expect(isSame)
        for place in 0..<count {
            var other = bytes
            other[place] ^= 1
            let isStillSame = bytes.span.isSame(as: other.span)
            #expect(!isStillSame)
            let difference = bytes.span.firstDifference(from: other.span)
            #expect(difference == place)
        }
        let longer = bytes + [0]
        let isSameLength = bytes.span.isSame(as: longer.span)
        #expect(!isSameLength)
        let end = (bytes.span.firstDifference(from: longer.span), longer.span.firstDifference(from: bytes.span))
        #expect(end == (count, count))
    }
}
