import ProxyCore
import ServerTrust
import UpstreamTransport

/// Facts for the access log that the exchange does not know.
struct LoggedFacts {
    /// Of the recording that is the answer.
    var recordingMember: [UInt8] = []
    /// What CONNECT got, where the request was one.
    var connectOutcome: ConnectOutcome?
    /// Why what is in the tunnel passes unseen, though its host is to be intercepted.
    var uninspected: UninspectedReason?
    /// As whom the server of a tunnel to an address was judged.
    var judgedName: String?
    /// Of the server that was judged for this request (`OriginExchange.judgedChain`).
    var judgedChain: [Certificate] = []

    /// Something has come after the end of the exchange.
    @inline(__always) var isTouched: Bool { connectOutcome != nil || !judgedChain.isEmpty }

    mutating func note(_ chain: [Certificate]) { if !chain.isEmpty { judgedChain = chain } }

    // Asked first: to let go of nothing is a call each time.
    @inline(__always)
    mutating func reset() {
        if !recordingMember.isEmpty { recordingMember = [] }
        if connectOutcome != nil {
            connectOutcome = nil
            uninspected = nil
            judgedName = nil
        }
        if !judgedChain.isEmpty { judgedChain = [] }
    }
}
