import HTTPMessage

/// An event of an event stream, as its bytes say it.
package struct RawServerSentEvent: Equatable, Sendable {
    /// Empty for the default type, `message`.
    package var type: [UInt8]
    package var data: [UInt8]
    /// The last ID that the stream has set so far; empty for none.
    package var lastEventID: [UInt8]
}

/// Reads an event stream, `text/event-stream` (the HTML standard's section "Server-sent events", parsing and interpreting): bytes in,
/// events out.
package struct ServerSentEventReader {
    private let limit: Int
    private var line: [UInt8] = []
    /// Whether the last line ended with CR, so that an LF belongs to its end.
    private var skipsLF = false
    private var isFirstLine = true
    private var type: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var eventID: [UInt8]
    /// The ID for the next connection (`Last-Event-ID`): the ID of the last complete block.
    package private(set) var lastEventID: [UInt8]
    /// How long the client has to wait before it connects again, in milliseconds, if the server has said it.
    package private(set) var retryMilliseconds: UInt64?

    /// - Parameters:
    ///   - limit: the longest event in bytes.
    ///   - lastEventID: the ID from the earlier connection.
    package init(limit: Int, lastEventID: [UInt8] = []) {
        self.limit = limit
        eventID = lastEventID
        self.lastEventID = lastEventID
    }

    /// Reads on from `offset`, and moves it forward.
    /// - Returns: `nil` if the input is used up.
    package mutating func next(_ input: Span<UInt8>, from offset: inout Int) throws(StreamFault) -> RawServerSentEvent? {
        while offset < input.count {
            let byte = input[offset]
            offset += 1
            if skipsLF {
                skipsLF = false
                if byte == ASCII.lf { continue }
            }
            guard byte == ASCII.lf || byte == ASCII.cr else {
                guard line.count < limit else { throw .tooLong(limit: limit) }
                line.append(byte)
                continue
            }
            skipsLF = byte == ASCII.cr
            if let event = try endLine() { return event }
        }
        return nil
    }

    private mutating func endLine() throws(StreamFault) -> RawServerSentEvent? {
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        defer { line.removeAll(keepingCapacity: line.capacity <= 1 << 16) }
        if line.isEmpty { return endBlock() }
        // A line that begins with a colon is a comment.
        guard let colon = line.firstIndex(of: ASCII.colon) else {
            try take(line[...], [])
            return nil
        }
        if colon == 0 { return nil }
        var value = line[(colon + 1)...]
        if value.first == ASCII.space { value = value.dropFirst() }
        try take(line[..<colon], value)
        return nil
    }

    private mutating func take(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) throws(StreamFault) {
        switch String(decoding: name, as: UTF8.self) {
        case "event": type = Array(value)
        case "data":
            guard data.count + value.count < limit else { throw .tooLong(limit: limit) }
            if hasData { data.append(ASCII.lf) }
            data += value
            hasData = true
        case "id": if !value.contains(0) { eventID = Array(value) }
        case "retry":
            if !value.isEmpty, value.allSatisfy(ASCII.isDigit), let number = UInt64(String(decoding: value, as: UTF8.self)) {
                retryMilliseconds = number
            }
        default: break
        }
    }

    /// An empty line ends an event. Without data there is no event, but the ID is set.
    private mutating func endBlock() -> RawServerSentEvent? {
        lastEventID = eventID
        defer {
            type = []
            data = []
            hasData = false
        }
        // The HTML standard compares the data before it removes the last line end, so that one empty data line is an event.
        guard hasData else { return nil }
        return RawServerSentEvent(type: type, data: data, lastEventID: eventID)
    }
}
