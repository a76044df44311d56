import HTTPMessage
import HTTPSerialization
import Testing

@Suite("Well-formed JSON (RFC 8259)")
struct JSONCheckerTests {
    private func fault(_ text: [UInt8], cuts: [Int] = [], depthLimit: Int = JSONChecker.defaultDepthLimit) -> JSONFault? {
        var checker = JSONChecker(depthLimit: depthLimit)
        do throws(JSONFault) {
            var start = 0
            for end in cuts + [text.count] {
                try checker.consume(text.span.extracting(start..<end))
                start = end
            }
            try checker.finish()
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "V6: valid JSON of every kind passes, and so do empty content and a single space",
        arguments: [
            "", " ", "{}", "[]", "null", "true", "false", "0", "-0", "1.5e+10", "\"\"", " [ ] ", "\t{\n}\r ", "[1,2]",
            "{\"a\":1,\"a\":2}",
            "[[[]]]", "{\"a\":[{\"b\":null}]}", "\"\\u0000\\uD834\"", "\"é€𝄞\u{10FFFF}\"", "[-1, 0.5, 1E9, 1e-9]", "\"\u{7F}\"",
            "12",
        ])
    func passes(text: String) {
        #expect(fault(Array(text.utf8)) == nil)
    }

    @Test(
        "The first fault is reported with its offset",
        arguments: [
            ("  ", .unexpectedEnd, 2), ("\t", .unexpectedEnd, 1), ("{invalid}", .unexpectedByte, 1), ("[1,]", .unexpectedByte, 3),
            ("[,]", .unexpectedByte, 1), ("{\"a\":1,}", .unexpectedByte, 7), ("{\"a\" 1}", .unexpectedByte, 5),
            ("{1:2}", .unexpectedByte, 1),
            ("[1 2]", .unexpectedByte, 3), ("[1}", .unexpectedByte, 2), ("{\"a\":1]", .unexpectedByte, 6),
            ("{} {}", .unexpectedByte, 3),
            ("nul", .unexpectedEnd, 3), ("nulL", .unexpectedByte, 3), ("truex", .unexpectedByte, 4), ("01", .unexpectedByte, 1),
            ("-", .unexpectedEnd, 1), ("-a", .unexpectedByte, 1), ("1.", .unexpectedEnd, 2), ("1.e5", .unexpectedByte, 2),
            (".5", .unexpectedByte, 0),
            ("+1", .unexpectedByte, 0), ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3), ("1ee", .unexpectedByte, 2),
            ("0x1", .unexpectedByte, 1),
            ("NaN", .unexpectedByte, 0), ("\"a", .unexpectedEnd, 2), ("\"\\", .unexpectedEnd, 2), ("\"\\x\"", .unexpectedByte, 2),
            ("\"\\u12g4\"", .unexpectedByte, 5), ("\"\\u12", .unexpectedEnd, 5), ("\"a\nb\"", .unexpectedByte, 2),
            ("\"\0\"", .unexpectedByte, 1),
            ("'a'", .unexpectedByte, 0), ("[1] //", .unexpectedByte, 4), ("\u{FEFF}{}", .unexpectedByte, 0),
            ("[", .unexpectedEnd, 1),
            ("{\"a\"", .unexpectedEnd, 4), ("{\"a\":", .unexpectedEnd, 5), ("]", .unexpectedByte, 0),
            ("<!DOCTYPE html>", .unexpectedByte, 0),
        ] as [(String, JSONFault.Reason, UInt64)])
    func fails(text: String, reason: JSONFault.Reason, offset: UInt64) {
        #expect(fault(Array(text.utf8)) == JSONFault(reason, at: offset))
    }

    @Test(
        "Invalid UTF-8 is rejected: bare continuation, overlong, surrogate, too high, truncated",
        arguments: [
            ([0x80], 1), ([0xC0, 0x80], 1), ([0xC1, 0xBF], 1), ([0xE0, 0x9F, 0xBF], 2), ([0xED, 0xA0, 0x80], 2),
            ([0xF0, 0x8F, 0xBF, 0xBF], 2),
            ([0xF4, 0x90, 0x80, 0x80], 2), ([0xF5, 0x80, 0x80, 0x80], 1), ([0xFF], 1), ([0xC3, 0x22], 2),
            ([0xE2, 0x82, 0x22], 3),
            ([0xF0, 0x9D, 0x84, 0x22], 4),
        ] as [([UInt8], UInt64)])
    func notUTF8(octets: [UInt8], offset: UInt64) {
        #expect(fault([0x22] + octets + [0x22]) == JSONFault(.notUTF8, at: offset))
    }

    @Test("T35: nesting at the depth limit passes, one level more fails at its bracket", arguments: [1, 64, 65, 512, 1024])
    func depth(limit: Int) {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = open == "[" ? "" : "1"
            let fits = String(repeating: open, count: limit) + inner + String(repeating: close, count: limit)
            #expect(fault(Array(fits.utf8), depthLimit: limit) == nil)
            let deeper = Array((String(repeating: open, count: limit + 1)).utf8)
            #expect(fault(deeper, depthLimit: limit) == JSONFault(.tooDeep, at: UInt64(limit * open.utf8.count)))
        }
    }

    @Test("Mixed containers must close in the order in which they were opened, at any depth")
    func mixed() {
        let opened = (0..<200).map { $0 % 3 == 0 ? "{\"a\":" : "[" }
        let closed = (0..<200).reversed().map { $0 % 3 == 0 ? "}" : "]" }
        #expect(fault(Array((opened + ["1"] + closed).joined().utf8)) == nil)
        for wrong in 0..<200 {
            var broken = closed
            broken[wrong] = closed[wrong] == "}" ? "]" : "}"
            let offset = opened.joined().utf8.count + 1 + wrong
            #expect(fault(Array((opened + ["1"] + broken).joined().utf8)) == JSONFault(.unexpectedByte, at: UInt64(offset)))
        }
    }

    @Test("Random texts and mutations give the reference parser's result, in any split", arguments: 0..<40 as Range<UInt64>)
    func reference(seed: UInt64) {
        var generator = SeededJSON(seed: seed)
        for _ in 0..<60 {
            let text = generator.text()
            #expect(fault(text) == nil, "\(String(decoding: text, as: UTF8.self))")
            let mutated = generator.mutated(text)
            let expected = ReferenceJSON.fault(in: mutated)
            let found = fault(mutated)
            #expect(found.map { Int($0.offset) } == expected, "\(mutated)")
            #expect(fault(mutated, cuts: Array(0...mutated.count)) == found)
            let cut = Int.random(in: 0...mutated.count, using: &generator)
            #expect(fault(mutated, cuts: [cut]) == found)
        }
    }

    @Test("After a fault the checker keeps reporting it")
    func sticky() {
        var checker = JSONChecker()
        #expect(throws: JSONFault(.unexpectedByte, at: 0)) { try checker.consume([UInt8(ascii: "x")].span) }
        #expect(throws: JSONFault(.unexpectedByte, at: 0)) { try checker.consume([UInt8(ascii: "1")].span) }
        #expect(throws: JSONFault(.unexpectedByte, at: 0)) { try checker.finish() }
    }
}
