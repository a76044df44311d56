import CertificateAuthority
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import Reachability
import Recordings
import UpstreamTransport

/// Everything about serving that settings can change. A value: a reload compares and replaces it as a whole.
package struct ServerSettings: Sendable {
    package struct Timeouts: Equatable, Sendable {
        /// From a connection's first byte to the end of the request's head.
        package var clientHead = 30_000
        /// Between two reads of a request's body, and for a client that takes nothing of its response.
        package var clientBody = 60_000
        /// Between requests.
        package var clientIdle = 75_000
        /// For a client that has ended its side and for which nothing comes. TCP does not tell whether it has left
        /// or only sends no more.
        package var halfClosed = 5_000
        /// How long an answered connection is kept so that the client can read the answer.
        package var lingering = 2_000
        /// For a client in a tunnel that may be answered here to say what it speaks; whoever says nothing waits for its server to speak.
        /// A TLS client sends its ClientHello within a round trip; a tunnel to a server that speaks first is held up for this long.
        package var firstOctets = 2_000
        /// From the first byte in such a tunnel to the end of the handshake.
        package var clientHandshake = 10_000
        /// Without a byte in either direction of a tunnel.
        package var tunnelIdle = 600_000

        package init() {}
    }

    /// What is kept of requests that are over, for explanations.
    package struct TraceLimits: Equatable, Sendable {
        /// On each loop.
        package var count = 10_000
        /// Of all loops together. Where they take more, the oldest are forgotten before `count` is reached.
        package var byteCount = 12 << 20

        package init() {}
    }

    /// Whether anything may leave, by word, or as there is a network; and what recordings have to do with it.
    package enum Mode: Sendable { case live, offline, auto, replay, record, recordMissing, refresh, diff }

    /// What closes the gate of `transport`.
    package var mode = Mode.live
    /// What is replayed; `nil` where nothing is.
    package var layers: ReplaySources?
    /// Where exchanges are recorded; `nil` where nowhere.
    package var recording: RecordingFile?
    /// What no recording answers is answered with what is stored, whatever its age.
    package var replaysStore = false
    /// How long past its lifetime a response is served where `auto` finds no network; `nil`: however long.
    package var offlineStalenessLimit: DeltaSeconds? = DeltaSeconds(7 * 86_400)
    package var parseLimits = ParseLimits()
    /// As they were at the start.
    package var traceLimits = TraceLimits()
    package var proxyLimits = ProxyLimits()
    /// In milliseconds.
    package var timeouts = Timeouts()
    package var transport = TransportConfiguration()
    /// Client connections in all; more are answered 503.
    package var connectionLimit = 16_384
    /// How many clients may be told at once that they are refused; further ones are closed without a word.
    package var refusalLimit = 256
    package var admission = ClientAdmission()
    /// How TLS is spoken on each listener, in their order; `nil`, and where there are fewer: it is not.
    package var listenerTLS: [ListenerTLS?] = []
    /// Clients that may use the method PURGE.
    package var purgeClients: [AddressRange] = []
    /// Whose certificates clients are shown where they are intercepted.
    package var authority: LocalAuthority?
    /// Handshakes with clients under way on each loop; more wait for their turn.
    package var handshakeLimit = 1024
    package var tunnelPorts: ExchangeContext.TunnelPorts = .listed([443, 80])
    package var setCookie = SetCookieStorage.explicit
    package var targets = TargetedCacheControl.none
    package var tellsKey = false
    package var hostMismatch: ExchangeContext.HostMismatch = .ignore
    /// Signs Via (RFC 9110 §7.6.3); unique to this instance, so that two proxies in a row are no loop.
    package var pseudonym = "larder"

    package init() {}

    /// What `mode` comes to on such a network. One of which nobody knows is taken for one that is there.
    func mode(on network: ReachabilityStatus) -> ExchangeContext.Mode {
        switch mode {
        case .live: .live
        case .offline: .offline
        case .auto: network.isOffline ? .offline : .live
        case .replay: .replay
        case .record: .record
        case .recordMissing: .recordMissing
        case .refresh: .refresh
        case .diff: .diff
        }
    }

    /// How far the gate is open in that mode. Behind a proxy a loopback address is another machine's.
    func gatePosition(in mode: ExchangeContext.Mode) -> EgressGate.Position {
        guard mode.isClosed else { return .open }
        return self.mode == .auto && transport.proxy == nil ? .openToThisMachine : .closed
    }

    func tls(ofListener number: Int) -> ListenerTLS? { number < listenerTLS.count ? listenerTLS[number] : nil }

    /// A listener shows certificates of an authority, and there is none.
    package var lacksAuthority: Bool { authority == nil && listenerTLS.contains { $0?.showsAuthority == true } }

    /// Some clients say who they are.
    var identifiesClients: Bool {
        admission.passwords != nil || listenerTLS.contains { $0?.asksForCertificates == true }
    }
}
