import HTTPMessage
import HTTPSerialization
import ProxyCore

/// Checks and transforms the body of an origin's response after it was gathered, away from the loop.
package struct BodyWork: Sendable {
    package struct Outcome: Sendable {
        /// The result of the check; `passed` if no check was required.
        package let check: BodyCheckOutcome
        /// The result of the transform; `nil` if no transform was required.
        package let transform: TransformEnd?
        /// The body in one piece.
        package var body: [UInt8] = []

        package init(check: BodyCheckOutcome, transform: TransformEnd?, body: [UInt8] = []) {
            self.check = check
            self.transform = transform
            self.body = body
        }
    }

    package let check: BodyCheck?
    package let transform: TransformWork?
    /// Whether the body is complete.
    let isWhole: Bool

    package init(for exchange: borrowing Exchange, isWhole: Bool) {
        self.isWhole = isWhole
        if exchange.wantsBodyCheck, let plan = exchange.validation {
            var limits = BodyCheckLimits()
            limits.bodyLength = plan.maximumBodyLength
            check = BodyCheck(plan.wellformed, of: exchange.response, limits: limits)
        } else {
            check = nil
        }
        if let plan = exchange.transformPlan, let source = exchange.transform.source {
            transform = TransformWork(plan, from: source, of: exchange.response)
        } else {
            transform = nil
        }
    }

    /// Whether the content has a coding that cannot be decoded.
    package static func isUndecodable(_ head: borrowing ResponseHead) -> Bool { ContentCodings(of: head.fields) == .unsupported }

    package func outcome(of pieces: [[UInt8]]) -> Outcome {
        let body = GatheredBody.join(pieces)
        let found = check.map { isWhole ? $0.outcome(of: body) : $0.outcome(ofBeginning: body) }
        let made = transform.map { isWhole ? $0.end(of: body) : .failed(.bodyTooLarge) }
        return Outcome(check: found ?? .passed, transform: made, body: body)
    }
}
