import HTTPMessage
import Snapshots

/// Records one exchange. The exchange's driver owns it. The calls of this object reach the recording's thread in their order.
package struct ExchangeRecorder: Sendable {
    /// The facts known at the end of the exchange.
    package struct End: Sendable {
        var times: RecordedTimes
        var protocolName: [UInt8]
        var trailers: Fields
        /// The record of the server's verified certificate chain; `nil` for plain HTTP.
        var chain: [UInt8]?
        var failure: RecordedFailure?
        /// The content of a request that was too long to be held; `nil` if the content was passed when the recording began.
        var requestBody: RequestToMatch.Body?
        /// Whether shared caches must not store the response.
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

    /// The fields of a 103 before the final response's head.
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

    /// Reports the digest of the content as recorded, after all earlier calls are written. Call it once, and only if the exchange was begun
    /// with `isLogged`.
    /// - Parameter line: called on any thread; with `nil` if there is no content or nothing was recorded.
    package func tellDigest(_ line: @escaping RecordedDigests.Line) { file.tellDigest(of: number, line) }

    /// Discards the recording of this exchange.
    package func drop() { file.run(0) { [number] session in session.drop(number) } }
}
