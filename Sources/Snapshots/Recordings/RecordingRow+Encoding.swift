import HTTPMessage
import ServerTrust

extension RecordingRow {
    /// The row of a recording. `SnapshotWriter` refuses rows that exceed `SnapshotLimits`.
    static func encode(_ recording: Recording) -> [UInt8] {
        var row: [UInt8] = []
        row.reserveCapacity(768)
        row.append(version)
        row.append(bigEndian: recording.identity.primary.high)
        row.append(bigEndian: recording.identity.primary.low)
        row += recording.identity.key.octets
        row += recording.identity.secrets.octets
        row.append(bigEndian: recording.generation)
        row.append(bigEndian: recording.position)
        append(.method, recording.request.method, to: &row)
        append(.uri, recording.request.uri, to: &row)
        append(.requestField, recording.request.fields, to: &row)
        if let body = recording.request.body { append(.requestBody, octets(of: body), to: &row) }
        append(.protocolName, recording.protocolName, to: &row)
        if let response = recording.response {
            var status: [UInt8] = []
            status.append(bigEndian: response.status.code)
            append(.status, status, to: &row)
            append(.reason, response.reason, to: &row)
            append(.responseField, response.fields, to: &row)
            append(.trailer, response.trailers, to: &row)
            if let body = response.body { append(.responseBody, octets(of: body), to: &row) }
        }
        if let failure = recording.failure { append(.failure, [failure.kind.rawValue] + failure.code.utf8, to: &row) }
        append(.times, octets(of: recording.times), to: &row)
        if let chain = recording.chain { append(.chain, chain.octets, to: &row) }
        let hints = recording.response?.earlyHints ?? []
        append(.marks, [(recording.isRedacted ? redactedMark : 0) | (hints.isEmpty ? 0 : earlyHintsMark)], to: &row)
        if !hints.isEmpty { append(.earlyHints, EarlyHints.encode(hints), to: &row) }
        return row
    }

    private static func append(_ part: Part, _ octets: [UInt8], to row: inout [UInt8]) {
        row.append(part.rawValue)
        row.append(bigEndian: UInt32(octets.count))
        row += octets
    }

    private static func append(_ part: Part, _ fields: Fields, to row: inout [UInt8]) {
        for line in fields.lines {
            row.append(part.rawValue)
            row.append(bigEndian: line.name.count + 1 + line.value.count)
            row.append(fields.name(of: line))
            row.append(ASCII.colon)
            row.append(fields.value(of: line))
        }
    }

    private static func octets(of body: RecordedBody) -> [UInt8] {
        var octets = body.digest.octets
        octets.append(bigEndian: body.length)
        octets += body.pieces.octets
        octets.append(body.isKept ? 1 : 0)
        return octets
    }

    private static func octets(of times: RecordedTimes) -> [UInt8] {
        var octets: [UInt8] = []
        octets.append(bigEndian: times.started.milliseconds)
        for phase in times.phases { octets.append(bigEndian: phase ?? unknownPhase) }
        return octets
    }
}
