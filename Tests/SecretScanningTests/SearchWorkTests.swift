import HTTPMessage
import Testing

@testable import SecretScanning

/// Texts on which a search would take quadratic time if it looked for the same missing end again and again. The work is counted where
/// it is the search for an end; elsewhere the tests show that the search goes on after the missing end.
@Suite("Work of the search for secrets in malformed text (T35)")
struct SearchWorkTests {
    private static func found(_ text: String, _ kind: MediaKind) -> [String] {
        let octets = Array(text.utf8)
        return SecretFinder.undeclared.secrets(inBody: octets, kind).map { Array(octets[$0.range]).text }
    }

    @Test("The end of a comment, section, instruction or script that has none is searched for once", arguments: [100, 1000])
    func searchesEndsOnce(count: Int) {
        for opening in ["<!--", "<![CDATA[", "<?", "<script>"] {
            let text = Array(String(repeating: opening, count: count).utf8)
            text.withUnsafeBufferPointer { octets in
                var ends = MarkupEnds()
                for construct in MarkupEnds.Construct.allCases {
                    for place in stride(from: 0, to: octets.count, by: opening.utf8.count) {
                        #expect(ends.end(of: construct, in: octets, from: place) == nil)
                    }
                }
                #expect(ends.work <= 4 * octets.count)
            }
        }
    }

    @Test(
        "Comments and sections in XML are searched for their ends once",
        arguments: [
            "<!-- ", "<pin>a<!--x</pin>", "<pin>a<?x</pin>", "<pin><![CDATA[", "<!-- <pin>", "<script>a<!--",
            "<pin>a<b><!-- </b></pin>",
        ])
    func readsMarkupOnce(piece: String) {
        for ending in ["", "-->", "?>", "]]>", "</script>"] {
            let text = Array((String(repeating: piece, count: 500) + ending).utf8)
            text.withUnsafeBufferPointer { octets in
                var search = StructuredSecrets(octets) { name, _ in name.text == "pin" ? .password : nil }
                search.search(as: .xml)
                #expect(search.markup.work <= 5 * octets.count, "\(ending) \(search.markup.work)")
            }
        }
    }

    @Test("The end of a quoted value that has none is searched for once", arguments: [100, 1000])
    func searchesQuotesOnce(count: Int) {
        for quote in ["`", "\"\"\""] {
            let text = Array(("a:" + quote + String(repeating: "a:\\" + quote, count: count)).utf8)
            text.withUnsafeBufferPointer { octets in
                var ends = QuoteEnds()
                for place in 2..<octets.count where octets.holds(Array(quote.utf8), at: place) {
                    _ = ends.content(in: octets, from: place, before: octets.count)
                }
                #expect(ends.work <= 4 * octets.count, "\(ends.work)")
            }
        }
    }

    @Test("The number of open elements and of open JSON containers is limited, and the innermost counts")
    func limitsDepth() {
        let pins = String(repeating: "<pin>", count: 1000)
        #expect(Self.found(pins + "a81</pin>", .xml) == ["a81"])
        let deep = JSONNesting.depthLimit - 1
        let pair = #"{"name":"password","value":"a81"}"#
        #expect(Self.found(String(repeating: "[", count: deep) + pair, .json) == ["a81"])
        // Deeper pairs are not recognized; deeper members are.
        #expect(Self.found(String(repeating: "[", count: deep + 1) + pair, .json) == [])
        #expect(Self.found(String(repeating: "[", count: 5000) + #"{"password":"a81"}"#, .json) == ["a81"])
    }

    @Test("A line with many assignments is read in one pass")
    func readsLinesOnce() {
        let text = Array((String(repeating: "a=b ", count: 5000) + "TOKEN=a81").utf8)
        text.withUnsafeBufferPointer { octets in
            var lines = AssignmentLines(octets, .assignments)
            var count = 0
            while lines.next() != nil { count += 1 }
            #expect(count == 5001)
            // Each line's end is searched for once, not once for each assignment.
            #expect(lines.lineEnds == 1)
        }
    }
}
