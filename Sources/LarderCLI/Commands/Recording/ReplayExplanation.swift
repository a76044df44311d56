import ArgumentParser
import Foundation
import HTTPCaching
import HTTPMessage
import HTTPSerialization
import ProxyAdmin
import ProxyServer
import SecretScanning
import Snapshots
import TextCoding

/// For `larder explain --replay`: the recording that matches a request, or the nearest recordings if none matches.
struct ReplayExplanation {
    private enum Outcome {
        case found(FoundRecording)
        /// - Parameter nearest: the nearest recordings in all files, the nearest one first.
        case missed(MissReason, nearest: [NearMiss])
    }

    private let outcome: Outcome
    /// The file with the matching recording.
    private let path: String

    private static let nearestCount = 5

    /// - Parameter paths: the files to search, in order.
    init(_ request: RequestToMatch, paths: [String], key: ProjectKey?, asOf: AsOf) throws {
        var reason = MissReason.notRecorded
        var nearest: [NearMiss] = []
        let snapshots = try paths.map { (path: $0, snapshot: try SnapshotFiles.open($0)) }
        try asOf.check(snapshots.map(\.snapshot))
        for (path, snapshot) in snapshots {
            var cursors = SequenceCursors()
            switch try SnapshotLayer(snapshot, key: key, asOf: asOf).find(request, &cursors) {
            case .found(let found):
                (outcome, self.path) = (.found(found), path)
                return
            case .missed(let why): if reason == .notRecorded { reason = why }
            }
            nearest += try NearMissSearch(snapshot, key: key).nearest(to: request)
        }
        let ranked = nearest.enumerated().sorted {
            ($0.element.differences.count, $0.offset) < ($1.element.differences.count, $1.offset)
        }
        (outcome, path) = (.missed(reason, nearest: ranked.prefix(Self.nearestCount).map(\.element)), "")
    }

    var text: String {
        switch outcome {
        case .found(let found):
            let answer = found.recording.response.map { "\($0.status.code), \($0.body?.length ?? 0) bytes" }
            let what = answer ?? found.recording.failure.map { "failed (\($0.kind.word))" } ?? "nothing"
            return "replayed: \(printable(path, limit: 4096)), generation \(found.recording.generation), "
                + "response \(found.position + 1) of \(found.sequenceLength): \(what)\n"
        case .missed(let reason, let nearest):
            let lines = nearest.map(\.text).joined().split(separator: "\n").map { printable(String($0), limit: 8192) + "\n" }
            return "missed: \(reason.rawValue)\n" + (lines.isEmpty ? "no recording is similar\n" : "nearest:\n" + lines.joined())
        }
    }

    var json: String {
        let value: JSONValue
        switch outcome {
        case .found(let found):
            value = [
                "outcome": .string("replayed"), "file": .string(path),
                "generation": .number(JSONNumber(found.recording.generation)),
                "position": .number(JSONNumber(UInt32(found.position))),
                "count": .number(JSONNumber(UInt32(found.sequenceLength))),
                "status": found.recording.response.map { .number(JSONNumber(UInt32($0.status.code))) } ?? .null,
                "failure": found.recording.failure.map { .string($0.kind.word) } ?? .null,
            ]
        case .missed(let reason, let nearest):
            value = ["outcome": .string("missed"), "reason": .string(reason.rawValue), "nearest": .array(nearest.map(\.json))]
        }
        return String(decoding: value.text(), as: UTF8.self) + "\n"
    }
}

extension RequestToMatch {
    /// - Parameter lines: the request's fields, each in the form `Name: value`.
    /// - Returns: `nil` if the URL is not absolute, or a field is invalid.
    init?(method: String, url: String, lines: [String], content: [UInt8]?) {
        let uri = Array(url.utf8.prefix { $0 != UInt8(ascii: "#") })
        guard let head = RequestHead(uri: uri.span, method: .get), head.target.form == .absolute else { return nil }
        var fields = Fields()
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), FieldName(String(line[..<colon])) != nil else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            guard value.utf8.allSatisfy(ASCII.isFieldValueCharacter) else { return nil }
            fields.append(name: String(line[..<colon]), value: value)
        }
        self.init(
            method: Array(method.utf8), uri: CacheKey(of: head).bytes, fields: fields,
            body: content.map { $0.isEmpty ? .none : .octets($0) } ?? .none)
    }
}
