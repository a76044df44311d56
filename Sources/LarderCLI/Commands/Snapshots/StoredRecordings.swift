import Foundation
import HTTPCaching
import HTTPMessage
import ProxyAdmin
import ResponseStore
import Snapshots

/// Records stored responses, each with its request as far as it is known: the URL, and the fields that Vary names.
struct StoredRecordings {
    private let file: StoreFileAccess
    private let recorder: SnapshotRecorder
    private(set) var count = 0
    /// The number of skipped responses, by reason.
    private(set) var leftOut: [String: Int] = [:]

    init(_ file: StoreFileAccess, to recorder: SnapshotRecorder) {
        self.file = file
        self.recorder = recorder
    }

    mutating func record(_ filter: StoreFilter) throws {
        try file.forEach(filter) { entry in
            guard let found = file.find(.row(entry.row))?.first else {
                return leaveOut("these responses were removed from the store before Larder read them")
            }
            let response = found.response
            if found.isPartial { return leaveOut("only a part of the response is stored") }
            if response.facts.flags.contains(.authorized) { return leaveOut("the request had Authorization") }
            guard let fields = Self.requestFields(of: response) else { return leaveOut("a rule changes the cache key") }
            do {
                try record(response, fields)
                count += 1
            } catch SnapshotError.unsearchable { leaveOut("the body cannot be searched for secrets") }
        }
    }

    private mutating func leaveOut(_ reason: String) { leftOut[reason, default: 0] += 1 }

    private func record(_ response: StoredResponse, _ fields: Fields) throws {
        let exchange = try recorder.begin(RequestToMatch(method: Array("GET".utf8), uri: response.key, fields: fields))
        var head = response.head
        let age = response.facts.currentAge(at: response.responseTime).seconds
        if age > 0 { head.fields.append(name: "Age", value: "\(age)") }
        let reason = Array(head.fields.bytes[head.reason.range])
        exchange.head(status: head.status, reason: reason, fields: head.fields)
        var failure: SnapshotError?
        try file.send(CacheAnswers.body(file.source, of: response, 0..<response.body.length)) { piece in
            guard failure == nil else { return }
            do throws(SnapshotError) { try exchange.append(Array(piece).span) } catch { failure = error }
        }
        if let failure { throw failure }
        try exchange.finish(
            times: RecordedTimes(started: response.requestTime), trailers: response.trailers, chain: response.chain?.octets)
    }

    /// - Returns: `nil` if the response's key depends on fields that are not named in Vary.
    private static func requestFields(of response: StoredResponse) -> Fields? {
        guard let nominated = Vary.nominated(in: response.nominatedFields) else { return nil }
        var varying = Set<[UInt8]>()
        for line in response.head.fields.lines where line.known == .vary {
            let value = response.head.fields.bytes[line.value.range]
            for name in value.split(separator: ASCII.comma) {
                varying.insert(name.filter { $0 != ASCII.space && $0 != ASCII.tab }.map(ASCII.lowercased))
            }
        }
        var fields = Fields()
        for (name, value) in nominated {
            guard varying.contains(name) else { return nil }
            if let value { fields.append(name: name.span, value: value.span) }
        }
        return fields
    }
}
