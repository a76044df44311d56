import HTTPMessage
import ServerTrust

/// The parts of a recording that do not depend on the time of recording or on who made it: the input of the Merkle root `content`.
///
/// The form has the key (32 bytes) and the position (4 bytes), and then parts as in a row: the status without the reason phrase, the
/// response fields, the trailers, the body's digest and length, the kind of failure, and the fields of each 103. Field names are in
/// lower case, and fields are sorted. For volatile fields, the form has only the names.
enum ContentForm {
    /// Fields whose values differ between equivalent responses: dates, ages, the proxies that forwarded the response, and values that
    /// are unique to each response.
    static let volatileFields: Set<String> = [
        "age", "alt-svc", "cache-status", "cf-ray", "date", "expires", "nel", "report-to",
        "server-timing", "set-cookie", "via", "x-amz-request-id", "x-amzn-requestid", "x-amzn-trace-id", "x-cache",
        "x-cache-hits",
        "x-correlation-id", "x-github-request-id", "x-request-id", "x-runtime", "x-served-by", "x-timer", "x-trace-id",
    ]

    static func make(of recording: Recording) -> [UInt8] {
        var form = recording.identity.key.octets
        form.append(bigEndian: recording.position)
        if let response = recording.response {
            form.append(RecordingRow.Part.status.rawValue)
            form.append(bigEndian: response.status.code)
            append(.responseField, lines(of: response.fields), to: &form)
            append(.trailer, lines(of: response.trailers), to: &form)
            if let body = response.body {
                form.append(RecordingRow.Part.responseBody.rawValue)
                form += body.digest.octets
                form.append(bigEndian: body.length)
            }
        }
        if let failure = recording.failure { form += [RecordingRow.Part.failure.rawValue, failure.kind.rawValue] }
        for hints in recording.response?.earlyHints ?? [] {
            append(.earlyHints, [lines(of: hints).flatMap { $0 + [ASCII.lf] }], to: &form)
        }
        return form
    }

    private static func append(_ part: RecordingRow.Part, _ lines: [[UInt8]], to form: inout [UInt8]) {
        for line in lines {
            form.append(part.rawValue)
            form.append(bigEndian: UInt32(line.count))
            form += line
        }
    }

    /// The lines, each as `name:value`, sorted by their bytes.
    static func lines(of fields: Fields) -> [[UInt8]] {
        fields.lines.map { line in
            let range = line.name.range
            let name = fields.bytes[range].map(ASCII.lowercased)
            let isVolatile = volatileFields.contains(String(decoding: name, as: UTF8.self))
            return name + [ASCII.colon] + (isVolatile ? [] : fields.bytes[line.value.range])
        }.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
