import HTTPCaching
import HTTPMessage

/// Requests for another protocol on their connection (RFC 9110 §7.8): each goes to the origin by itself, whatever is stored, and what
/// comes of it is kept by nobody.
extension Exchange {
    mutating func asksForSwitch() -> Bool {
        request.fields.contains(.upgrade) && ProtocolSwitch.isAsked(by: request, body: incoming.body)
    }

    mutating func fetchForSwitch(at now: Timestamp, into commands: inout CommandBuffer) {
        let decision = Reuse.decideMiss(.upgrade, for: directives, overrides: obligations.cache)
        trace.reuse = decision
        if let fault = decision.missFault { return fail(fault, at: now, into: &commands) }
        incoming.isForSwitch = true
        fetch(at: now, into: &commands)
    }

    /// The origin has answered 101. Whoever was not asked, or speaks something else from here on, is not followed.
    mutating func switchProtocols(at now: Timestamp, into commands: inout CommandBuffer) {
        guard incoming.isForSwitch, ProtocolSwitch.isGranted(by: response) else {
            commands.append(.cancelUpstream)
            return fail(.unexpectedUpgrade, at: now, into: &commands)
        }
        state = .tunnelling
        trace.outcome = .tunnel
        trace.status = Status.switchingProtocols.code
        commands.append(.relaySwitched)
    }

    /// The 101 for the client, behind which its bytes and the origin's follow.
    package func writeSwitchedHead(into output: inout [UInt8]) {
        writeStatusLine(.switchingProtocols, of: response, into: &output)
        var fields = response.fields
        if obligations.editsResponse { matched.editResponse(&fields) }
        // RFC 9110 §8.6: no length stands in a 1xx.
        output.appendEndToEndLines(of: fields) { $0 == .contentLength }
        ProtocolSwitch.writeLines(into: &output)
        output.append(addingCapacity: context.viaLineLength) { context.writeVia(for: response.version, into: &$0) }
        output.append("\r\n")
    }
}
