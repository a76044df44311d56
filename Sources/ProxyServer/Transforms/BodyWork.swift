import HTTPMessage
import HTTPSerialization
import ProxyCore

/// What is done with an origin's body that was gathered: it is checked, and something is made of it. Off the loop.
struct BodyWork: Sendable {
    struct Outcome: Sendable {
        /// `passed` where no check was asked for.
        let check: BodyCheckOutcome
        /// `nil` where nothing was to be made.
        let transform: TransformEnd?
        /// In one piece.
        var body: [UInt8] = []
    }

    let check: BodyCheck?
    let transform: TransformWork?
    /// Whether all of it has come.
    let isWhole: Bool

    func outcome(of pieces: [[UInt8]]) -> Outcome {
        let body = GatheredBody.join(pieces)
        let found = check.map { isWhole ? $0.outcome(of: body) : $0.outcome(ofBeginning: body) }
        let made = transform.map { isWhole ? $0.end(of: body) : .failed(.bodyTooLarge) }
        return Outcome(check: found ?? .passed, transform: made, body: body)
    }
}
