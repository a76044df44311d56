import ProxyCore
import Snapshots

// Maps miss reasons and failures of recordings to `ProxyCore` and back.

extension MissReason {
    package var word: StaticToken {
        switch self {
        case .notRecorded: "not_recorded"
        case .varies: "varies"
        case .otherSecret: "other_secret"
        case .later: "later"
        case .exhausted: "exhausted"
        }
    }
}

extension RecordedFailure.Kind {
    /// The fault that replay reproduces.
    package var fault: Fault {
        switch self {
        case .cutShort: .responseIncomplete
        case .refused: .connectionRefused
        case .timedOut: .responseTimeout(phase: "recorded")
        case .malformed: .malformedResponse(detail: "recorded")
        }
    }
}

extension RecordedFailure {
    /// - Returns: `nil` for a fault that neither the origin nor the connection to it caused.
    package init?(_ fault: Fault) {
        let row = GatewayError(fault)
        guard row.origin == .upstream else { return nil }
        let kind: Kind =
            switch fault {
            case .responseIncomplete, .responseReset: .cutShort
            case .nameLookUpTimeout, .connectionTimeout, .responseTimeout: .timedOut
            case .malformedResponse, .responseFieldsTooLarge, .unexpectedUpgrade, .unexpectedNotModified: .malformed
            default: .refused
            }
        // The code of the reset is kept, so that replay resets the client's stream with the same code.
        if case .responseReset(_, let reason) = fault {
            self.init(kind, code: "\(reason.text)")
        } else {
            self.init(kind, code: "\(row.code.text)")
        }
    }
}
