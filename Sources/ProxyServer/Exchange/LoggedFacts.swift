import ProxyCore
import ServerTrust
import UpstreamTransport

/// Facts for the access log that the exchange does not know.
struct LoggedFacts {
    /// The member of the log line for the recording that was delivered.
    var recordingMember: [UInt8] = []
    /// The name of the way on which the request or tunnel left; empty for direct connections.
    var way = ""
    /// The outcome of a CONNECT.
    var connectOutcome: ConnectOutcome?
    /// Why a tunnel's content is not inspected, although its host must be intercepted.
    var uninspected: UninspectedReason?
    /// The name under which the server of a tunnel to an address was verified.
    var judgedName: String?
    /// The verified chain of the server for this request (`OriginExchange.judgedChain`).
    var judgedChain: [Certificate] = []

    /// Whether a fact was noted since the last `reset`. Facts may also be noted after the end of an exchange.
    @inline(__always) var isTouched: Bool { connectOutcome != nil || !judgedChain.isEmpty || !way.isEmpty }

    mutating func note(_ chain: [Certificate]) { if !chain.isEmpty { judgedChain = chain } }

    // Each field is checked before it is reset, because the release of even an empty value costs a call.
    @inline(__always)
    mutating func reset() {
        if !recordingMember.isEmpty { recordingMember = [] }
        if connectOutcome != nil {
            connectOutcome = nil
            uninspected = nil
            judgedName = nil
        }
        if !judgedChain.isEmpty { judgedChain = [] }
        if !way.isEmpty { way = "" }
    }
}
