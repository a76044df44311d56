import HTTPMessage

/// How this cache handled a request, for the Cache-Status field (RFC 9211). The cache's name in the field is `Larder`.
///
/// A trivial type (no reference counts). Writing it does not allocate.
package struct CacheStatus: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        case hit
        case forwarded(ForwardReason)
        /// No stored response could be used, and the request must not be forwarded: neither `hit` nor `fwd` applies.
        case notSatisfied
    }

    package enum Collapsing: UInt8, Sendable {
        case none
        /// The request was satisfied by another request's response.
        case collapsed
        /// The request waited for another request's response, but could not use it.
        case failed
    }

    package var outcome: Outcome
    /// The remaining lifetime in seconds; negative once stale.
    package var remaining: Int64?
    /// The status of the response from the next hop, if the client gets another status.
    package var forwardStatus: Status?
    package var stored = false
    package var collapsing = Collapsing.none
    package var detail: StaticString?
    /// The directive of the origin server that a rule overrode. The caller of `writeField` names the rule.
    package var overriddenWord: StaticString?

    package init(_ outcome: Outcome) { self.outcome = outcome }

    /// The status of a response that is served from the store without forwarding the request; `nil` for any other decision.
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

    /// The maximum length of the field line in bytes: all its words are Larder's own.
    package static let lineLimit = 512

    /// Appends the field line. An existing Cache-Status line of the response stays before it.
    /// - Parameter rule: the name of the rule that overrode `overriddenWord`.
    package func writeField(rule: String = "", into output: inout OutputSpan<UInt8>) {
        output.append("Cache-Status: ")
        write(rule: rule, into: &output)
        output.append("\r\n")
    }

    /// Appends the list member without the field name.
    package func write(rule: String = "", into output: inout OutputSpan<UInt8>) {
        switch outcome {
        case .hit:
            // The most common case takes a single append.
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

    /// Adds the cache key, as a String, to the last field line written (RFC 9211 §2.7, RFC 9651 §4.1.6). Bytes that a String cannot
    /// hold are percent-encoded.
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
            // A rule's name has no quotes and no backslashes.
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
    /// The `detail` that says why the response could be used. This `detail` takes precedence over the source of the lifetime.
    fileprivate var detail: StaticString? {
        if usedUnsafe { return "unsafe" }
        switch circumstance {
        case .none: return nil
        case .recordedChain: return Self.recordedChainWord
        case .pastObjection: return StaleReason.offline.word
        case .shared: return Self.sharedWord
        }
    }
}

extension LifetimeSource {
    /// The `detail` that names the lifetime's source in `Cache-Status`; `nil` if the origin server gave the lifetime.
    package var detail: StaticString? {
        switch self {
        case .heuristic: "heuristic"
        case .rule: "rule"
        case .signature: "signature"
        case .none, .expires, .maxAge, .sMaxAge: nil
        }
    }
}
