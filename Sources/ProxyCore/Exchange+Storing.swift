import HTTPCaching
import HTTPMessage

/// Decisions about a response while its content is received, and the bytes and fields that the driver needs on the way.
extension Exchange {
    // MARK: Storing

    /// Where the content goes of a response that is to be stored.
    package var storagePlan: StoragePlan {
        StoragePlan(
            body: upstream.body, part: ranges.part, cutsPart: partToCut != nil, gatheredLength: context.limits.gatheredBodyLength)
    }

    /// Whether so many bytes of content are still gathered. From there on they are streamed.
    package func gathers(_ count: Int) -> Bool { count <= context.limits.gatheredBodyLength }

    /// Content whose length no head has told has turned out this long.
    /// - Returns: `nil` where the rules let it be kept.
    package func rejection(ofLength count: Int) -> StorageRejection? {
        guard let limit = keptBodyLength, UInt64(count) > limit else { return nil }
        return .tooLarge
    }

    // MARK: The fetch

    /// Another fetch of the same may have ended, and its response been stored, after the look-up and before this exchange came to
    /// lead: memory is looked at again.
    package var looksAgainWhenLeading: Bool { if case .forward(.uriMiss)? = trace.reuse { true } else { false } }

    /// Whether the fetch goes on without its client.
    package func isWanted(by demand: FetchDemand) -> Bool { demand.isThere || isBackground && state != .finished }

    /// The client of a recorded exchange has left: a body with an end is recorded to it.
    package var isRecordedToTheEnd: Bool { if case .known = upstream.body { true } else { false } }

    /// Whether the rest of a body comes from the server that has sent its beginning, under the same trust policy.
    package func isOfSameServer(trust: UInt64, chain: RecordedChain?) -> Bool {
        guard trust == upstream.trust else { return false }
        return upstream.chain == nil || chain?.digest == upstream.chain?.digest
    }

    /// How long no background fetch asks for the key again, after this one has failed, in milliseconds.
    package var backgroundRetryDelay: Int64 { max(context.limits.backgroundRetryDelay, upstream.retryAfter ?? 0) }

    /// Why no connection is made for a tunnel: a rule has closed the way to its host, whatever the gate says. `nil` where one may be.
    package var tunnelFault: Fault? { obligations.mode != nil && mode.isClosed ? .offlineMiss(detail: "tunnel") : nil }

    /// Who may send the request depends on the client's address.
    package var asksForAddress: Bool { if case .other = request.method { true } else { false } }

    // MARK: Messages

    /// By which conditions the client asks, for the trace.
    package var clientConditions: RequestConditions { RequestConditions(in: request.fields) }

    /// The client may wait for `100 Continue`, and never send the content.
    package var mayWithholdContent: Bool { request.fields.contains(.expect) }

    package func writeContinue(into output: inout [UInt8]) { output.append("HTTP/1.1 100 Continue\r\n\r\n") }

    /// Trailer fields of the request, as they go to the origin.
    package func forwarded(_ trailers: Fields) -> Fields { HopByHop.endToEnd(trailers, under: request.fields) }

    /// Trailer fields of the response, as they go to the client and into the store.
    package func relayed(_ trailers: Fields) -> Fields { HopByHop.endToEnd(trailers, under: response.fields) }

    /// A body that is too long to be gathered is checked by its beginning.
    package var checksBeginning: Bool { validation?.wellformed == .image }

    // MARK: Recordings

    /// The bytes of the request's fields, by which answers are remembered.
    package var requestFieldBytes: [UInt8] { request.fields.bytes }

    /// What recordings know of a request, but for its content.
    package struct RecordedRequest: Sendable {
        package let method: [UInt8]
        package let uri: [UInt8]
        package let fields: Fields
    }

    /// - Parameter isForRecording: The recording is to hold the whole, so that conditions and ranges are left out.
    package mutating func recordedRequest(isForRecording: Bool) -> RecordedRequest {
        var uri: [UInt8] = []
        CacheKey.write(request, into: &uri)
        var fields = request.fields.alone
        if isForRecording, wantsWholeRecorded {
            fields.removeCacheConditions()
            fields.remove(.range)
            fields.remove(.ifRange)
        }
        return RecordedRequest(method: Self.bytes(request.span(of: request.methodName)), uri: uri, fields: fields)
    }

    /// The head of the origin's response, for a recording.
    package mutating func recordedHead() -> (status: Status, reason: [UInt8], fields: Fields) {
        (response.status, Self.bytes(response.span(of: response.reason)), response.fields.alone)
    }

    /// A cache for several users may not keep the response.
    package var isResponseUnshared: Bool { ResponseDirectives(response.fields, targets: .none).forbidsSharing }

    /// The fields of an interim response that is recorded. Those of 100 and 102 hold for one connection alone, and are not.
    package static func recordedHints(_ head: borrowing ResponseHead) -> Fields? {
        head.status == .earlyHints ? head.fields.alone : nil
    }

    /// Recorded early hints, as they come before the final response (RFC 8297 §2).
    package func writeEarlyHints(_ fields: Fields, into output: inout [UInt8]) {
        var head = ResponseHead()
        head.status = .earlyHints
        head.fields = fields
        writeInformational(head, into: &output)
    }

    private static func bytes(_ span: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(span.count)
        for index in span.indices { bytes.append(span[index]) }
        return bytes
    }
}
