import HTTPSerialization

extension FuzzTarget {
    /// An XML text: cut anywhere it is accepted or refused the same, with the same events; what stands in it is within the limits; starts and ends
    /// belong together.
    ///
    /// Where a document type is named, whether it is accepted may depend on the pieces: libxml2 looks for its end by another way when it
    /// does not have all of it. What is accepted is the same then too.
    package static let xml = FuzzTarget("XML") { octets in
        let limits = XMLLimits(length: 4096, depth: 12, markupLength: 1024, attributeCount: 8, nodeCount: 300)
        let whole = events(octets, ends: [octets.count], limits)
        let hasType = String(decoding: octets, as: UTF8.self).contains("<!D")
        for ends in [Cuts.some(of: octets), Cuts.each(of: min(octets.count, 200)) + [octets.count]] {
            let pieces = events(octets, ends: ends, limits)
            if pieces != whole, !hasType || pieces != nil && whole != nil { return "in pieces differs" }
        }
        guard let whole else { return nil }
        var open: [XMLName] = []
        for event in whole {
            switch event {
            case .start(let name, let attributes):
                open.append(name)
                if open.count > limits.depth || attributes.count > limits.attributeCount { return "past a limit" }
            case .end(let name): if open.popLast() != name { return "an end without a start" }
            case .text, .comment, .processingInstruction: break
            }
        }
        if !open.isEmpty { return "a start without an end" }
        if let tree = try? XMLTree(parsing: octets, limits: limits), tree.json.text().isEmpty { return "no JSON" }
        return nil
    }

    /// - Returns: `nil` where it is refused.
    private static func events(_ octets: [UInt8], ends: [Int], _ limits: XMLLimits) -> [XMLEvent]? {
        let reader = XMLEventReader(limits: limits)
        var events: [XMLEvent] = []
        var start = 0
        do throws(XMLFault) {
            for end in ends where end > start {
                events += try reader.consume(octets.span.extracting(start..<end))
                start = end
            }
            return events + (try reader.finish())
        } catch {
            return nil
        }
    }
}
