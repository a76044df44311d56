import HTTPMessage

/// Limits for checking a body.
package struct BodyCheckLimits: Equatable, Sendable {
    /// The maximum length in bytes, for the body as received and for the output of each coding.
    package var bodyLength: UInt64 = 8 << 20
    /// Maximum ratio of the decoded length to the received length (threat T35 in docs/threats.md). It applies to decoded
    /// lengths above `ratioFloor`.
    package var ratio: UInt64 = 256
    /// The decoded length, in bytes, up to which any ratio is accepted.
    package var ratioFloor: UInt64 = 1 << 20
    package var jsonDepth = JSONChecker.defaultDepthLimit
    package var image = ImageLimits()

    package init() {}

    var codings: CodingLimits { CodingLimits(length: bodyLength, ratio: ratio, ratioFloor: ratioFloor) }
}

/// Checks whether a body is well-formed under its content codings. Created when the head is known; the check runs off the event loop.
package struct BodyCheck: Sendable {
    package let kinds: BodyKinds
    package let codings: ContentCodings
    package let limits: BodyCheckLimits
    let head: ReceivedHead

    package init(_ kinds: BodyKinds, of head: borrowing ResponseHead, limits: BodyCheckLimits = BodyCheckLimits()) {
        self.kinds = kinds
        self.limits = limits
        codings = ContentCodings(of: head.fields)
        self.head = ReceivedHead(head, to: .get)
    }

    package init(json codings: ContentCodings, limits: BodyCheckLimits = BodyCheckLimits()) {
        kinds = .json
        self.codings = codings
        self.limits = limits
        head = ReceivedHead(status: 200)
    }

    /// The outcome for a complete body in memory, in one or several pieces.
    package func outcome(of body: some Sequence<[UInt8]>) -> BodyCheckOutcome {
        let checker = BodyChecker(self)
        for piece in body where !checker.consume(piece.span) { break }
        return checker.finish()
    }

    package func outcome(of body: [UInt8]) -> BodyCheckOutcome { outcome(of: CollectionOfOne(body)) }

    /// The outcome for a body that is longer than the limit, from its beginning alone. If an image's beginning shows a fault, the outcome
    /// is that fault; otherwise it is `tooLarge`.
    package func outcome(ofBeginning body: [UInt8]) -> BodyCheckOutcome {
        guard kinds == .image else { return .tooLarge }
        let checker = BodyChecker(self)
        let count = min(body.count, limits.image.headerLength, Int(clamping: limits.bodyLength))
        _ = checker.consume(body.span.extracting(0..<count))
        return checker.finishBeginning()
    }
}

/// Checks one body, which arrives in pieces. Confined to the thread that checks it.
///
/// JSON is checked piece by piece, and its bytes are not kept. Other kinds are collected first, up to `bodyLength`.
package final class BodyChecker {
    private struct Failure: Error { let outcome: BodyCheckOutcome }

    private let check: BodyCheck
    private let codings: CodingChain
    private var json: JSONChecker
    private var content: [UInt8] = []
    private let isSupported: Bool
    private var failure: BodyCheckOutcome?

    package init(_ check: BodyCheck) {
        self.check = check
        json = JSONChecker(depthLimit: check.limits.jsonDepth)
        isSupported = check.codings != .unsupported
        var known: [ContentCoding] = []
        if case .known(let codings) = check.codings { known = codings }
        codings = CodingChain(known, limits: check.limits.codings)
    }

    /// - Returns: whether to continue; after `false` the outcome is final.
    package func consume(_ octets: Span<UInt8>) -> Bool {
        if octets.isEmpty || failure != nil { return failure == nil }
        // An empty body is not encoded, whatever Content-Encoding says.
        guard isSupported else {
            failure = .unsupportedCoding
            return false
        }
        do throws(Failure) {
            try codings.decode(octets, failing: { Failure(outcome: $0 == .tooLarge ? .tooLarge : .malformedCoding) }, take: take)
        } catch {
            failure = error.outcome
        }
        return failure == nil
    }

    /// The outcome at the end of the body.
    package func finish() -> BodyCheckOutcome {
        if let failure { return failure }
        guard codings.permitsEnd else { return .malformedCoding }
        guard check.kinds == .json else { return KindCheck(check).outcome(of: content) }
        do throws(JSONFault) {
            try json.finish()
            return .passed
        } catch {
            return .malformedJSON(error)
        }
    }

    /// The outcome if the body continues, but is not checked any further.
    func finishBeginning() -> BodyCheckOutcome {
        if let failure, failure != .tooLarge { return failure }
        return KindCheck(check).fault(ofImage: content, isWhole: false) ?? .tooLarge
    }

    private func take(_ text: Span<UInt8>) throws(Failure) {
        guard check.kinds == .json else { return content.append(text) }
        do throws(JSONFault) {
            try json.consume(text)
        } catch {
            throw Failure(outcome: .malformedJSON(error))
        }
    }
}
