import HTTPMessage
import Snapshots

/// One exchange on its way into a recording, as its driver holds it. What is said comes to the recording's thread in this order.
package struct ExchangeRecorder: Sendable {
    /// What is known when the exchange is over.
    package struct End: Sendable {
        var times: RecordedTimes
        var protocolName: [UInt8]
        var trailers: Fields
        /// The record of the chain by which the server was judged; `nil` for plain HTTP.
        var chain: [UInt8]?
        var failure: RecordedFailure?
        /// The content of a request that was too long to be held; `nil` where it was given when the recording began.
        var requestBody: RequestToMatch.Body?
        /// No shared cache may keep it.
        var isUnshared: Bool

        package init(
            times: RecordedTimes, protocolName: [UInt8], trailers: Fields, chain: [UInt8]?, failure: RecordedFailure?,
            requestBody: RequestToMatch.Body?, isUnshared: Bool
        ) {
            self.times = times
            self.protocolName = protocolName
            self.trailers = trailers
            self.chain = chain
            self.failure = failure
            self.requestBody = requestBody
            self.isUnshared = isUnshared
        }
    }

    package let file: RecordingFile
    private let number: UInt64

    init(file: RecordingFile, number: UInt64) {
        self.file = file
        self.number = number
    }

    /// The fields of a 103, before the head.
    package func earlyHints(_ fields: Fields) {
        file.run(fields.bytes.count) { [number] session in session.earlyHints(number, fields) }
    }

    package func head(status: Status, reason: [UInt8], fields: Fields) {
        file.run(0) { [number] session in session.head(number, status, reason, fields) }
    }

    package func append(_ octets: [UInt8]) {
        file.run(octets.count) { [number] (session) throws(SnapshotError) in try session.append(number, octets) }
    }

    package func finish(_ end: End) {
        file.run(0) { [number] (session) throws(SnapshotError) in try session.finish(number, end) }
    }

    /// Tells what the content came to as it stands in the recording, when all that was said is written. Asked once, of one that was begun so.
    /// - Parameter line: called on some thread; with `nil` where there is no content, or nothing was recorded.
    package func tellDigest(_ line: @escaping RecordedDigests.Line) { file.tellDigest(of: number, line) }

    /// Nothing of it is kept.
    package func drop() { file.run(0) { [number] session in session.drop(number) } }
}
