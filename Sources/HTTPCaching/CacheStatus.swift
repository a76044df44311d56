import HTTPMessage

/// How this cache handled a request, for the Cache-Status field (RFC 9211), in which its name is `Larder`.
///
/// Trivial; writing allocates nothing of its own.
package struct CacheStatus: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        case hit
        case forwarded(ForwardReason)
        /// Nothing stored could be used, and the request was not to go forward: neither `hit` nor `fwd` is true of it.
        case notSatisfied
    }

    package enum Collapsing: UInt8, Sendable {
        case none
        /// Satisfied by another request's response.
        case collapsed
        /// Waited for another request's response, and could not use it.
        case failed
    }

    package var outcome: Outcome
    /// What is left of the lifetime in seconds; negative once stale.
    package var remaining: Int64?
    /// The status of the response that came from the next hop, where it is not the one delivered.
    package var forwardStatus: Status?
    package var stored = false
    package var collapsing = Collapsing.none
    package var detail: StaticString?
    /// A word of the origin server's that a rule led past; the rule is named where the field is written.
    package var overriddenWord: StaticString?

    package init(_ outcome: Outcome) { self.outcome = outcome }

    /// For a response that is served from the store without going forward.
    package init?(_ decision: ReuseDecision) {
        switch decision {
        case .fresh(let terms):
            self.init(.hit)
            remaining = terms.remaining
            detail = terms.detail ?? terms.lifetimeSource.detail
        case .staleAllowed(let terms, let reason):
            self.init(.hit)
            remaining = terms.remaining
            detail = terms.detail ?? reason.word
        case .validate(let reason), .forward(let reason): self.init(.forwarded(reason))
        case .notSatisfiable: self.init(.notSatisfied)
        case .offlineMiss:
            self.init(.notSatisfied)
            detail = ReuseDecision.offlineMissWord
        }
    }

    package static func == (left: CacheStatus, right: CacheStatus) -> Bool {
        left.outcome == right.outcome && left.remaining == right.remaining && left.forwardStatus == right.forwardStatus
            && left.stored == right.stored && left.collapsing == right.collapsing
            && left.detail?.description == right.detail?.description
            && left.overriddenWord?.description == right.overriddenWord?.description
    }

    /// No field line is longer, whatever it says: its words are ours.
    package static let lineLimit = 512

    /// Appends the field line. An existing Cache-Status of the response stays before it, as its own line.
    /// - Parameter rule: The name of the rule that led past `overriddenWord`.
    package func writeField(rule: String = "", into output: inout OutputSpan<UInt8>) {
        output.append("Cache-Status: ")
        write(rule: rule, into: &output)
        output.append("\r\n")
    }

    /// Appends the member alone.
    package func write(rule: String = "", into output: inout OutputSpan<UInt8>) {
        switch outcome {
        case .hit:
            // In one piece for the way that is taken most.
            output.append(remaining == nil ? "Larder; hit" : "Larder; hit; ttl=")
        case .forwarded(let reason):
            output.append("Larder; fwd=")
            output.append(reason.forwardToken)
            writeForwarding(into: &output)
            if remaining != nil { output.append("; ttl=") }
        case .notSatisfied: output.append("Larder")
        }
        if let remaining {
            if remaining < 0 { output.append(0x2D) }
            output.append(decimal: remaining.magnitude)
        }
        writeDetail(rule: rule, into: &output)
    }

    /// Adds the key to the field line that was written last, as a String (RFC 9211 §2.7, RFC 9651 §4.1.6): bytes that stand in none
    /// are told by their percent-encoding.
    package static func append(key: [UInt8], toFieldAtEndOf output: inout [UInt8]) {
        output.removeLast(2)
        output.append("; key=\"")
        for byte in key {
            switch byte {
            case ASCII.quote, ASCII.backslash:
                output.append(ASCII.backslash)
                output.append(byte)
            case 0x20...0x7E: output.append(byte)
            default:
                PercentEncoding.append(encoded: byte, into: &output)
            }
        }
        output.append("\"\r\n")
    }

    private func writeForwarding(into output: inout OutputSpan<UInt8>) {
        if let forwardStatus {
            output.append("; fwd-status=")
            output.append(decimal: UInt64(forwardStatus.code))
        }
        if stored { output.append("; stored") }
        switch collapsing {
        case .none: break
        case .collapsed: output.append("; collapsed")
        case .failed: output.append("; collapsed=?0")
        }
    }

    private func writeDetail(rule: String, into output: inout OutputSpan<UInt8>) {
        if let overriddenWord {
            // A rule's name holds neither quotes nor backslashes.
            output.append("; detail=\"rule ")
            for byte in rule.utf8 { output.append(byte) }
            output.append(" overrode ")
            output.append(overriddenWord)
            output.append("\"")
            return
        }
        if let detail {
            output.append("; detail=")
            output.append(detail)
            return
        }
        switch outcome {
        case .hit: break
        case .forwarded(let reason) where !reason.hasDetail: break
        case .forwarded(let reason):
            output.append("; detail=")
            output.append(reason.word)
        case .notSatisfied:
            output.append("; detail=")
            output.append(ReuseDecision.notSatisfiableWord)
        }
    }
}

extension ReuseTerms {
    /// What is told before anything else of how it could be used.
    fileprivate var detail: StaticString? {
        if usedUnsafe { return "unsafe" }
        if isByRecordedChain { return Self.recordedChainWord }
        return isPastObjection ? StaleReason.offline.word : nil
    }
}

extension LifetimeSource {
    /// The word of `Cache-Status`, where the origin server has not given the lifetime itself.
    package var detail: StaticString? {
        switch self {
        case .heuristic: "heuristic"
        case .rule: "rule"
        case .signature: "signature"
        case .none, .expires, .maxAge, .sMaxAge: nil
        }
    }
}
