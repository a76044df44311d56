import Foundation
import HTTPMessage
import SecretScanning
import ServerTrust
@testable import Snapshots

/// Snapshots in a temporary folder.
final class SnapshotFixture: Sendable {
    let folder: String

    init() {
        folder = FileManager.default.temporaryDirectory.path + "/snapshots-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var path: String { folder + "/test.larder" }

    /// Makes a finished snapshot of these exchanges.
    @discardableResult
    func write(
        _ exchanges: [Exchange], to path: String? = nil, existing: SnapshotWriter.Existing = .refuse,
        terms: MatchTerms = MatchTerms(), now: Timestamp = Exchange.began, signing key: SigningKey? = nil
    ) throws -> SnapshotRoots {
        let writer = try SnapshotWriter(path: path ?? self.path, existing: existing, terms: terms, tool: "test", now: now)
        for exchange in exchanges { try exchange.append(to: writer) }
        return try writer.finish(signing: key)
    }

    func octets() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    static let key = ProjectKey(octets: [UInt8](repeating: 7, count: 32))!
}

/// An exchange as tests write it.
struct Exchange {
    static let began = Timestamp(seconds: 1_795_415_000)

    var method = "GET"
    var uri: String
    var requestFields: [(String, String)] = []
    var requestBody: [UInt8] = []
    var status: UInt16 = 200
    var fields: [(String, String)] = [("Content-Type", "text/plain")]
    var body: [UInt8] = []
    /// The fields of each 103 before the response.
    var earlyHints: [[(String, String)]] = []
    var trailers: [(String, String)] = []
    var started = Exchange.began

    init(_ uri: String, _ body: String = "") {
        self.uri = uri
        self.body = Array(body.utf8)
    }

    static func fields(_ lines: [(String, String)]) -> Fields {
        var fields = Fields()
        for (name, value) in lines { fields.append(name: name, value: value) }
        return fields
    }

    var request: RequestToMatch {
        RequestToMatch(
            method: Array(method.utf8), uri: Array(uri.utf8), fields: Self.fields(requestFields),
            body: requestBody.isEmpty ? .none : .octets(requestBody))
    }

    func append(to writer: SnapshotWriter) throws {
        let response = Self.fields(fields)
        let matcher = try RequestMatcher(writer.manifest.terms)
        guard let identity = matcher.identity(of: request, response: response, under: SnapshotFixture.key) else {
            throw SnapshotError.malformed("a secret without a key")
        }
        try writer.append(
            Recording(
                request: RecordedRequest(
                    method: request.method, uri: request.uri, fields: request.fields, body: try writer.body(requestBody)),
                response: RecordedResponse(
                    status: Status(status), reason: Array("OK".utf8), fields: response,
                    trailers: Self.fields(trailers), earlyHints: earlyHints.map(Self.fields), body: try writer.body(body)),
                times: RecordedTimes(started: started, phases: [nil, 1000, 2000, nil, 10, 500, 20]), identity: identity,
                generation: writer.generation))
    }
}

extension Array<UInt8> {
    var text: String { String(decoding: self, as: UTF8.self) }
}
