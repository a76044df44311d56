import HTTPMessage
import SecretScanning

/// A place in a snapshot where a secret is stored in clear text.
package struct SecretPlace: Hashable, Sendable, CustomStringConvertible {
    package let uri: String
    /// The part of the exchange, such as `request field authorization` or `response body`.
    package let part: String
    package let kind: SecretKind

    package var description: String { "\(kind.rawValue) in \(part) of \(uri)" }
}

extension Snapshot {
    /// Searches the whole snapshot for secrets that are stored in clear text, not as placeholders.
    /// - Parameter limit: the search stops after this many secrets.
    package func secretPlaces(limit: Int = 100) throws(SnapshotError) -> [SecretPlace] {
        let finder = try onSecretScanning { () throws(SecretScanningError) in try SecretFinder(manifest.terms.secrets) }
        var audit = SecretAudit(finder: finder, limit: limit)
        for place in 0..<count where !audit.isFull {
            let recording = try recording(at: place)
            let uri = audit.finder.secrets(inURI: recording.request.uri)
            audit.uri = String(
                decoding: recording.request.uri.replacing(uri) { _, _ in SecretMark.canonical }, as: UTF8.self)
            audit.note(uri, "URI")
            audit.note(recording.request.fields, "request field")
            try look(in: recording.request.body, recording.request.fields, "request body", &audit)
            guard let response = recording.response else { continue }
            audit.note(response.fields, "response field")
            audit.note(response.trailers, "trailer field")
            for hints in response.earlyHints { audit.note(hints, "103 field") }
            try look(in: response.body, response.fields, "response body", &audit)
        }
        return audit.places
    }

    /// Searches a body. Skips a body that is longer than the recorder's search limit, or that cannot be decoded.
    private func look(
        in body: RecordedBody?, _ fields: Fields, _ part: String, _ audit: inout SecretAudit
    ) throws(SnapshotError) {
        guard let body, body.isKept, body.length <= UInt64(SnapshotLimits.requestBodyLength), audit.begin(body) else { return }
        guard let text = DecodedBody.decoded(try octets(of: body), describedBy: fields) else { return }
        audit.note(audit.finder.secrets(inBody: text, MediaKind(of: fields)), part)
    }
}

/// The secrets found so far. A body that several recordings share is searched once.
private struct SecretAudit {
    let finder: SecretFinder
    let limit: Int
    var uri = ""
    private(set) var places: [SecretPlace] = []
    private var seen: Set<RecordedBody> = []

    init(finder: SecretFinder, limit: Int) {
        self.finder = finder
        self.limit = limit
    }

    var isFull: Bool { places.count >= limit }

    mutating func begin(_ body: RecordedBody) -> Bool { seen.insert(body).inserted }

    mutating func note(_ found: [FoundSecret], _ part: String) {
        for secret in found where !secret.isPlaceholder && !isFull {
            let place = SecretPlace(uri: uri, part: part, kind: secret.kind)
            if !places.contains(place) { places.append(place) }
        }
    }

    mutating func note(_ fields: Fields, _ part: String) {
        for line in fields.lines {
            let name = String(decoding: fields.bytes[line.name.range].map(ASCII.lowercased), as: UTF8.self)
            note(finder.secrets(of: line, in: fields), "\(part) \(name)")
        }
    }
}
