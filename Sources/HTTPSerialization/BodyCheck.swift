import HTTPMessage

/// How far a check of a body goes before it gives up.
package struct BodyCheckLimits: Equatable, Sendable {
    /// In octets, for the body as it came and for what comes out of each coding.
    package var bodyLength: UInt64 = 8 << 20
    /// How many times longer than the body itself its decoded form may be (T35), once it is past `ratioFloor`.
    package var ratio: UInt64 = 256
    /// In octets: below, no ratio is suspicious.
    package var ratioFloor: UInt64 = 1 << 20
    package var jsonDepth = JSONChecker.defaultDepthLimit

    package init() {}

    var codings: CodingLimits { CodingLimits(length: bodyLength, ratio: ratio, ratioFloor: ratioFloor) }
}

/// Whether a body is well-formed JSON under its content codings: made where the head is known, carried out off the loop.
package struct BodyCheck: Sendable {
    package let codings: ContentCodings
    package let limits: BodyCheckLimits

    package init(json codings: ContentCodings, limits: BodyCheckLimits = BodyCheckLimits()) {
        self.codings = codings
        self.limits = limits
    }

    /// The outcome for a body that stands in memory, in one piece or several.
    package func outcome(of body: some Sequence<[UInt8]>) -> BodyCheckOutcome {
        let checker = BodyChecker(self)
        for piece in body where !checker.consume(piece.span) { break }
        return checker.finish()
    }

    package func outcome(of body: [UInt8]) -> BodyCheckOutcome { outcome(of: CollectionOfOne(body)) }
}

/// One body on its way through a check, in pieces. Confined to the thread that checks it.
package final class BodyChecker {
    private struct Failure: Error { let outcome: BodyCheckOutcome }

    private let codings: CodingChain
    private var json: JSONChecker
    private let isSupported: Bool
    private var failure: BodyCheckOutcome?

    package init(_ check: BodyCheck) {
        json = JSONChecker(depthLimit: check.limits.jsonDepth)
        isSupported = check.codings != .unsupported
        var known: [ContentCoding] = []
        if case .known(let codings) = check.codings { known = codings }
        codings = CodingChain(known, limits: check.limits.codings)
    }

    /// - Returns: whether more is of use; after `false` the outcome is settled.
    package func consume(_ octets: Span<UInt8>) -> Bool {
        if octets.isEmpty || failure != nil { return failure == nil }
        // A body without content is not encoded in anything.
        guard isSupported else {
            failure = .unsupportedCoding
            return false
        }
        do throws(Failure) {
            try codings.decode(octets, failing: { Failure(outcome: $0 == .tooLarge ? .tooLarge : .malformedCoding) }, take: check)
        } catch {
            failure = error.outcome
        }
        return failure == nil
    }

    /// The body ends here.
    package func finish() -> BodyCheckOutcome {
        if let failure { return failure }
        guard codings.permitsEnd else { return .malformedCoding }
        do throws(JSONFault) {
            try json.finish()
            return .passed
        } catch {
            return .malformedJSON(error)
        }
    }

    private func check(_ text: Span<UInt8>) throws(Failure) {
        do throws(JSONFault) {
            try json.consume(text)
        } catch {
            throw Failure(outcome: .malformedJSON(error))
        }
    }
}
