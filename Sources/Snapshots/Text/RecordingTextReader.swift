import HTTPMessage
import ServerTrust

/// Reads a recording's text line by line.
struct RecordingTextReader {
    private var isBegun = false
    private var generation: UInt32?
    private var started: Timestamp?
    private var phases: [Int64?] = []
    private var protocolName: [UInt8]?
    private var chain: SHA256Digest?
    private var isRedacted = false
    private var failure: RecordedFailure?
    private var request: RecordedRequest?
    private var response: RecordedResponse?
    private var earlyHints: [Fields] = []
    private var suffixes: [SHA256Digest: String] = [:]
    private var position: UInt32 = 0

    /// The recording; `nil` until all required lines have been read.
    var parsed: RecordingText.Parsed? {
        guard let request, let generation, let started, let protocolName, response != nil || failure != nil,
            earlyHints.isEmpty || response != nil, EarlyHints.areWithinLimits(earlyHints)
        else { return nil }
        var response = response
        response?.earlyHints = earlyHints
        let nothing = SHA256Digest(of: [])
        var recording = Recording(
            request: request, response: response, failure: failure, times: RecordedTimes(started: started, phases: phases),
            protocolName: protocolName, chain: chain,
            identity: RequestIdentity(primary: PrimaryKey(nothing), key: nothing, secrets: nothing), generation: generation,
            position: position)
        recording.isRedacted = isRedacted
        return RecordingText.Parsed(recording: recording, suffixes: suffixes)
    }

    /// - Returns: whether the line is valid here.
    mutating func take(_ line: [UInt8]) -> Bool {
        guard isBegun else {
            isBegun = true
            return line == RecordingText.firstLine
        }
        if line.isEmpty { return true }
        if line.starts(with: Array("> ".utf8)) { return takeRequest(Array(line[2...])) }
        if line == RecordingText.earlyHintsLine {
            guard earlyHints.count < SnapshotLimits.earlyHints else { return false }
            earlyHints.append(Fields())
            return true
        }
        if line.starts(with: RecordingText.earlyHintsLine + [ASCII.space]) {
            return !earlyHints.isEmpty && Self.note(Array(line[5...]), in: &earlyHints[earlyHints.count - 1])
        }
        if line.starts(with: Array("<< ".utf8)) {
            return response != nil && Self.note(Array(line[3...]), in: &response!.trailers)
        }
        if line.starts(with: Array("< ".utf8)) { return takeResponse(Array(line[2...])) }
        return takeHead(line)
    }

    private mutating func takeHead(_ line: [UInt8]) -> Bool {
        let words = Self.words(line)
        switch (words.first, words.count) {
        case ("generation", 2):
            generation = UInt32(words[1])
            return generation != nil
        case ("position", 2):
            guard let read = UInt32(words[1]) else { return false }
            position = read
            return true
        case ("started", 2):
            started = Int64(words[1]).map(Timestamp.init(milliseconds:))
            return started.map { RecordedTimes.startSeconds.contains($0.seconds) } ?? false
        case ("phases", RecordedTimes.Phase.allCases.count + 1):
            phases = words.dropFirst().map { Int64($0) }
            return zip(words.dropFirst(), phases).allSatisfy { $0 == "-" || ($1 ?? -1) >= 0 }
        case ("protocol", _):
            protocolName = Array(line.dropFirst("protocol ".utf8.count))
            return true
        case ("chain", 2):
            chain = Hexadecimal.decode(words[1]).flatMap { SHA256Digest($0) }
            return chain != nil
        case ("redacted", 1):
            isRedacted = true
            return true
        case ("failure", 3):
            failure = RecordedFailure.Kind(word: words[1]).map { RecordedFailure($0, code: words[2]) }
            return failure != nil
        default: return false
        }
    }

    private mutating func takeRequest(_ line: [UInt8]) -> Bool {
        guard request != nil else {
            let parts = line.split(separator: ASCII.space, maxSplits: 1)
            guard parts.count == 2 else { return false }
            request = RecordedRequest(method: Array(parts[0]), uri: Array(parts[1]), fields: Fields())
            return true
        }
        if Self.isBody(line) {
            let body = body(line)
            request?.body = body
            return body != nil
        }
        return Self.note(line, in: &request!.fields)  // the code above checks `request`
    }

    private mutating func takeResponse(_ line: [UInt8]) -> Bool {
        guard response != nil else {
            let parts = line.split(separator: ASCII.space, maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let code = UInt16(String(decoding: parts[0], as: UTF8.self)) else { return false }
            response = RecordedResponse(status: Status(code), reason: Array(parts[1]), fields: Fields())
            return true
        }
        if Self.isBody(line) {
            let body = body(line)
            response?.body = body
            return body != nil
        }
        return Self.note(line, in: &response!.fields)  // the code above checks `response`
    }

    /// Whether a line describes a body. A field's name is directly followed by a colon; this line has a space there.
    private static func isBody(_ line: [UInt8]) -> Bool { line.starts(with: Array("body ".utf8)) }

    private mutating func body(_ line: [UInt8]) -> RecordedBody? {
        let words = Self.words(line)
        guard words.count == 6, words[1].hasPrefix("sha256:"), let digest = Self.digest(String(words[1].dropFirst(7))),
            let length = UInt64(words[2]), let pieces = Self.digest(words[3]), ["kept", "digest"].contains(words[4]),
            BodyName.suffixes.contains(words[5])
        else { return nil }
        suffixes[digest] = words[5]
        return RecordedBody(digest: digest, length: length, pieces: pieces, isKept: words[4] == "kept")
    }

    private static func digest(_ text: String) -> SHA256Digest? { Hexadecimal.decode(text).flatMap { SHA256Digest($0) } }

    private static func words(_ line: [UInt8]) -> [String] {
        line.split(separator: ASCII.space).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func note(_ line: [UInt8], in fields: inout Fields) -> Bool {
        guard let colon = line.firstIndex(of: ASCII.colon), line.count > colon + 1, line[colon + 1] == ASCII.space,
            fields.count < SnapshotLimits.fieldLines
        else { return false }
        fields.append(name: Array(line[..<colon]).span, value: Array(line[(colon + 2)...]).span)
        return true
    }
}
