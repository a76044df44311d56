import HTTPMessage
import ServerTrust

extension RecordingRow {
    /// Decodes a row. Its bytes are not trusted.
    /// - Returns: `nil` for bytes that `encode` would not write.
    static func decode(_ row: [UInt8]) -> Recording? {
        let span = row.span
        guard span.count >= headCount, span.count <= SnapshotLimits.recordLength, span[0] == version,
            let primary = PrimaryKey(row[primaryRange]), let key = SHA256Digest(row[keyRange]),
            let secrets = SHA256Digest(row[secretsRange])
        else { return nil }
        var parts = Parts()
        guard parts.read(span, from: headCount), let times = parts.times, let request = parts.request,
            let protocolName = parts.protocolName, let marks = parts.marks
        else { return nil }
        // A recording has a response head, a failure or both. Early hints require a response head.
        guard parts.response != nil || parts.failure != nil else { return nil }
        guard (marks & earlyHintsMark != 0) == (parts.response?.earlyHints.isEmpty == false) else { return nil }
        var recording = Recording(
            request: request, response: parts.response, failure: parts.failure, times: times, protocolName: protocolName,
            chain: parts.chain, identity: RequestIdentity(primary: primary, key: key, secrets: secrets),
            generation: span.bigEndian(at: generationRange.lowerBound), position: span.bigEndian(at: positionRange.lowerBound))
        recording.isRedacted = marks & redactedMark != 0
        return recording
    }

    /// The parts of a row that have been read so far.
    private struct Parts {
        var method: [UInt8]?
        var uri: [UInt8]?
        var requestFields = Fields()
        var requestBody: RecordedBody?
        var protocolName: [UInt8]?
        var response: RecordedResponse?
        var failure: RecordedFailure?
        var times: RecordedTimes?
        var chain: SHA256Digest?
        var marks: UInt8?

        var request: RecordedRequest? {
            guard let method, let uri else { return nil }
            return RecordedRequest(method: method, uri: uri, fields: requestFields, body: requestBody)
        }

        /// - Returns: whether the row, up to its end, has only known and well-formed parts in the right order.
        mutating func read(_ row: Span<UInt8>, from start: Int) -> Bool {
            var place = start
            var last: UInt8 = 0
            while place < row.count {
                guard row.count - place >= 5, let part = Part(rawValue: row[place]) else { return false }
                guard part.rawValue > last || part.rawValue == last && part.mayRepeat else { return false }
                last = part.rawValue
                let count = Int(row.bigEndian(at: place + 1) as UInt32)
                place += 5
                guard row.count - place >= count, take(part, row.extracting(place..<place + count)) else { return false }
                place += count
            }
            return true
        }

        private mutating func take(_ part: Part, _ value: Span<UInt8>) -> Bool {
            switch part {
            case .method:
                method = value.octets(0..<value.count)
                return !value.isEmpty && isToken(value)
            case .uri:
                uri = value.octets(0..<value.count)
                return isURI(value)
            case .requestField: return RecordingRow.note(value, in: &requestFields)
            case .requestBody:
                requestBody = RecordingRow.body(value)
                return requestBody != nil
            case .protocolName:
                protocolName = value.octets(0..<value.count)
                return isFieldValue(value)
            case .status:
                guard value.count == 2 else { return false }
                let status = Status(value.bigEndian(at: 0))
                response = RecordedResponse(status: status, fields: Fields())
                return (100...999).contains(status.code)
            case .reason:
                response?.reason = value.octets(0..<value.count)
                return response != nil && isFieldValue(value)
            case .responseField:
                guard response != nil else { return false }
                return RecordingRow.note(value, in: &response!.fields)  // the code above checks `response`
            case .trailer:
                guard response != nil else { return false }
                return RecordingRow.note(value, in: &response!.trailers)  // the code above checks `response`
            case .responseBody:
                response?.body = RecordingRow.body(value)
                return response?.body != nil
            case .failure:
                guard !value.isEmpty, let kind = RecordedFailure.Kind(rawValue: value[0]) else { return false }
                failure = RecordedFailure(kind, code: String(decoding: value.octets(1..<value.count), as: UTF8.self))
                return value.extracting(1..<value.count).isPrintableASCII
            case .times:
                times = RecordingRow.times(value)
                return times != nil
            case .chain:
                chain = SHA256Digest(value.octets(0..<value.count))
                return chain != nil
            case .marks:
                guard value.count == 1 else { return false }
                marks = value[0]
                return value[0] & ~(redactedMark | earlyHintsMark) == 0
            case .earlyHints:
                guard response != nil, let hints = RecordingRow.hints(value) else { return false }
                response?.earlyHints = hints
                return !hints.isEmpty && EarlyHints.areWithinLimits(hints)
            }
        }
    }

    private static func note(_ line: Span<UInt8>, in fields: inout Fields) -> Bool {
        var colon = 0
        while colon < line.count, line[colon] != ASCII.colon { colon += 1 }
        guard colon > 0, colon < line.count, fields.count < SnapshotLimits.fieldLines else { return false }
        let name = line.extracting(0..<colon)
        let value = line.extracting(colon + 1..<line.count)
        guard isToken(name), isFieldValue(value) else { return false }
        fields.append(name: name, value: value)
        return true
    }

    private static func hints(_ value: Span<UInt8>) -> [Fields]? {
        var hints: [Fields] = []
        var fields = Fields()
        var start = 0
        for place in 0..<value.count where value[place] == ASCII.lf {
            if start == place {
                hints.append(fields)
                fields = Fields()
            } else {
                guard note(value.extracting(start..<place), in: &fields) else { return nil }
            }
            start = place + 1
        }
        return start == value.count && fields.count == 0 ? hints : nil
    }

    private static func body(_ value: Span<UInt8>) -> RecordedBody? {
        guard value.count == bodyCount, value[bodyCount - 1] <= 1, let digest = SHA256Digest(value.octets(0..<32)),
            let pieces = SHA256Digest(value.octets(40..<72))
        else { return nil }
        let length: UInt64 = value.bigEndian(at: 32)
        guard length > 0, length <= SnapshotLimits.bodyLength else { return nil }
        return RecordedBody(digest: digest, length: length, pieces: pieces, isKept: value[bodyCount - 1] == 1)
    }

    private static func times(_ value: Span<UInt8>) -> RecordedTimes? {
        let count = RecordedTimes.Phase.allCases.count
        guard value.count == 8 * (1 + count) else { return nil }
        var phases: [Int64?] = []
        for index in 0..<count {
            let phase: Int64 = value.bigEndian(at: 8 * (index + 1))
            guard phase >= unknownPhase else { return nil }
            phases.append(phase == unknownPhase ? nil : phase)
        }
        let started = Timestamp(milliseconds: value.bigEndian(at: 0))
        guard RecordedTimes.startSeconds.contains(started.seconds) else { return nil }
        return RecordedTimes(started: started, phases: phases)
    }

    private static func isToken(_ name: Span<UInt8>) -> Bool {
        for index in 0..<name.count where !ASCII.isTokenCharacter(name[index]) { return false }
        return true
    }

    private static func isFieldValue(_ value: Span<UInt8>) -> Bool {
        for index in 0..<value.count where !ASCII.isFieldValueCharacter(value[index]) { return false }
        return true
    }

    /// Rejects white space and control characters. The code that uses the URI validates the rest.
    private static func isURI(_ value: Span<UInt8>) -> Bool {
        for index in 0..<value.count where value[index] <= ASCII.space || value[index] == 0x7F { return false }
        return !value.isEmpty
    }
}

extension Span<UInt8> {
    fileprivate var isPrintableASCII: Bool {
        for index in 0..<count where self[index] <= 0x20 || self[index] >= 0x7F { return false }
        return true
    }
}
