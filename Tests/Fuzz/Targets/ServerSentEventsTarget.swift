import LarderHTTP

extension FuzzTarget {
    /// An event stream gives the same events, the same ID and the same wait with every cut. Events are within the limit. Events that are
    /// written again are read as the same events.
    package static let serverSentEvents = FuzzTarget("ServerSentEvents") { bytes in
        let whole = ReadEvents(bytes, [bytes.count])
        if ReadEvents(bytes, Cuts.each(of: bytes.count)) != whole { return "byte by byte differs" }
        if ReadEvents(bytes, Cuts.some(of: bytes)) != whole { return "in pieces differs" }
        var written: [UInt8] = []
        for event in whole.events {
            if event.data.count > ReadEvents.limit || event.type.count > ReadEvents.limit { return "an event above the limit" }
            if event.lastEventID.contains(0) { return "an ID with a zero byte" }
            written += Array("event: ".utf8) + event.type + Array("\nid: ".utf8) + event.lastEventID + [0x0A]
            for line in event.data.split(separator: 0x0A, omittingEmptySubsequences: false) {
                written += Array("data: ".utf8) + line + [0x0A]
            }
            written.append(0x0A)
        }
        let again = ReadEvents(written, [written.count], limit: 1 << 20)
        return again.events == whole.events && again.fault == nil ? nil : "other events after they were written and read again"
    }
}

/// The events of one stream, up to a fault.
private struct ReadEvents: Equatable {
    static let limit = 64

    var events: [RawServerSentEvent] = []
    var fault: StreamFault?
    var lastEventID: [UInt8] = []
    var retryMilliseconds: UInt64?

    init(_ bytes: [UInt8], _ ends: [Int], limit: Int = limit) {
        var reader = ServerSentEventReader(limit: limit)
        var start = 0
        for end in ends where fault == nil {
            let piece = Array(bytes[start..<end])
            start = end
            var offset = 0
            do throws(StreamFault) {
                while let event = try reader.next(piece.span, from: &offset) { events.append(event) }
            } catch { fault = error }
        }
        lastEventID = reader.lastEventID
        retryMilliseconds = reader.retryMilliseconds
    }
}
