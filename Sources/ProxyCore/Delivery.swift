import HTTPCaching
import HTTPMessage

/// How a response is framed for its client. The framing is chosen when the response's head is known.
package struct Delivery: Equatable, Sendable {
    /// The status sent to the client.
    package private(set) var status = Status.ok
    /// The length of the content sent to the client.
    package private(set) var length: BodyLength = .none
    /// The range of the stored body to send, if the client requested a part.
    package private(set) var range: Range<UInt64>?
    /// The parts of the stored body to send, if the client requested several parts.
    package private(set) var multipart: MultipartRanges?
    /// Whether content of unknown length is sent in chunks. If not, as for an HTTP/1.0 client, the end of the connection ends the content.
    package private(set) var isChunked = false
    /// Whether another request may follow on the client's connection after this message.
    package private(set) var keepsConnection = false
    /// Whether validation found faults, and the rule requires that the response says so.
    package internal(set) var isAnnotated = false
    private(set) var isNotModified = false
    private(set) var isUnsatisfied = false
    /// Whether the client gets a part that is cut from a whole response while that response is being stored.
    package private(set) var isCutFromRelayed = false
    private var speaks11 = true
    private var isHead = false

    @discardableResult
    mutating func readConnection(of request: RequestHead) -> ConnectionOptions {
        let options = ConnectionOptions(of: request.fields)
        // Bytes after a CONNECT are for the tunnel, and are never another request.
        let isTunnel = if case .connect = request.method { true } else { false }
        keepsConnection = !isTunnel && options.permitsNextRequest(after: request.version)
        speaks11 = request.version.isAtLeast11
        isHead = if case .head = request.method { true } else { false }
        return options
    }

    mutating func closeConnection() { keepsConnection = false }

    /// Chooses what the client gets of a stored response: the complete response, the requested part, or a 304 (RFC 9110 §13.2.2, §14.2).
    /// - Parameter ignoresDates: whether If-Modified-Since is ignored, because dates do not show whether the client has the same content.
    mutating func chooseStored(
        _ stored: StoredResponse, length bodyLength: BodyLength, directives: RequestDirectives, for request: RequestHead,
        ignoresDates: Bool = false
    ) {
        status = stored.head.status
        switch Validation.evaluate(request, directives: directives, against: stored) {
        case .notModified where ignoresDates && !request.fields.contains(.ifNoneMatch): break
        case .notModified:
            isNotModified = true
            status = .notModified
            length = .none
            return
        case .full: break
        }
        length = bodyLength
        if case .known(let whole) = bodyLength { chooseRange(of: whole, of: stored, for: request) }
        // The response is sent in chunks, because only chunked framing has trailer fields (RFC 9112 §7.1.2).
        if !stored.trailers.isEmpty, speaks11, range == nil, multipart == nil, !isUnsatisfied { length = .unknown }
        frame()
    }

    /// Frames a response that is relayed from the origin as it arrives.
    mutating func chooseRelayed(_ response: ResponseHead, body: BodyLength) {
        status = response.status
        length = body
        frame()
    }

    /// Frames transformed content from the origin, or chooses a 304 if the client has that content.
    mutating func chooseTransformed(_ head: ResponseHead, whole: UInt64?, for request: RequestHead, isUnmodified: Bool = false) {
        status = head.status
        let isRead = request.method == .get || request.method == .head
        if isRead, head.status == .ok, isUnmodified || Self.matchesNone(request.fields, head.fields) {
            isNotModified = true
            status = .notModified
            length = .none
        } else if let whole {
            chooseGathered(head, whole: whole, for: request)
        } else {
            length = .none
            frame()
        }
    }

    /// Whether the condition in If-None-Match is false for a response with this head (RFC 9110 §13.1.2).
    private static func matchesNone(_ request: Fields, _ head: Fields) -> Bool {
        guard request.contains(.ifNoneMatch), let line = head.entityTagLine else { return false }
        var index = request.index(of: .ifNoneMatch)
        while let found = index {
            switch EntityTag.findWeakly(head.value(of: line), inList: request.value(of: request.lines[found])) {
            case .any, .matches: return true
            case .invalid: return false
            case .doesNotMatch: index = request.index(of: .ifNoneMatch, from: found + 1)
            }
        }
        return false
    }

    /// Frames a response from the origin that was gathered and checked, or chooses the requested part of it.
    mutating func chooseGathered(_ response: ResponseHead, whole: UInt64, for request: RequestHead) {
        status = response.status
        length = .known(whole)
        guard response.status == .ok else { return frame() }
        switch Self.choice(of: whole, validators: response.fields, for: request) {
        // Larder cuts several parts only from stored bodies. A body that is not stored yet is sent completely.
        case .whole, .several, nil: break
        case .unsatisfiable: chooseUnsatisfied()
        case .one(let part): choose(part)
        }
        frame()
    }

    /// Chooses the part that the client requested of a response that is relayed through the store. The origin sends the complete body.
    mutating func cut(_ part: Range<UInt64>) {
        isCutFromRelayed = true
        choose(part)
    }

    mutating func chooseGenerated(_ status: Status, closes: Bool) {
        self.status = status
        if closes { keepsConnection = false }
    }

    private mutating func chooseRange(of whole: UInt64, of stored: StoredResponse, for request: RequestHead) {
        guard stored.head.status.code == 200 else { return }
        switch Self.choice(of: whole, validators: stored.head.fields, for: request) {
        case .whole, nil: break
        case .unsatisfiable: chooseUnsatisfied()
        case .one(let part): choose(part)
        case .several(let multipart):
            self.multipart = multipart
            status = .partialContent
        }
    }

    /// The ranges of the request applied to a representation; `nil` if the request has none, or if its ranges are ignored (RFC 9110 §14.2).
    static func choice(of whole: UInt64, validators: Fields, for request: RequestHead) -> MultipartRanges.Choice? {
        guard let line = request.fields.first(.range), request.method == .get, request.fields.lineCount(of: .range) == 1,
            let ranges = ByteRangeSet(request.fields.value(of: line)), RangeCondition.holds(request, for: validators)
        else { return nil }
        return MultipartRanges.choose(ranges, of: whole)
    }

    private mutating func choose(_ part: Range<UInt64>) {
        range = part
        status = .partialContent
        length = .known(part.upperBound - part.lowerBound)
    }

    private mutating func chooseUnsatisfied() {
        isUnsatisfied = true
        status = Status(416)
        length = .none
    }

    /// Sets the separators between parts, and includes their length in the content's length.
    mutating func describeParts(contentType: Span<UInt8>, number: UInt64, secret: UInt64) {
        guard multipart != nil else { return }
        multipart?.describe(contentType: contentType, number: number, secret: secret)
        length = .known(multipart?.length ?? 0)
    }

    private mutating func frame() {
        if isHead || status.code == 204 || status.code == 304 {
            length = .none
            return
        }
        if length == .unknown {
            isChunked = speaks11
            if !speaks11 { keepsConnection = false }
        }
    }

    /// Whether only the end of the connection ends the content: if the message is incomplete, the connection must not be closed cleanly.
    package var endsWithConnection: Bool { length == .unknown && !isChunked }

    /// Whether bytes of content follow the head.
    package var sendsContent: Bool { length != .none && length != .known(0) }
}
