import CertificateAuthority
import HTTP2Wire
import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import Reachability
import Recordings
import UpstreamTransport

/// All settings for serving. A value: a reload compares and replaces it as a whole.
package struct ServerSettings: Sendable {
    package struct Timeouts: Equatable, Sendable {
        /// The maximum time from the beginning of a connection to its first request, and from a head's first byte to its end.
        package var clientHead = 30_000
        /// The maximum time between two reads of a request's body. Also the maximum time in which a client may read nothing of its
        /// response.
        package var clientBody = 60_000
        /// How long a connection stays open between requests.
        package var clientIdle = 75_000
        /// How long an exchange continues for a client that has closed its sending side, while no response can be sent to it. TCP does not
        /// show whether the client has left or only sends nothing more.
        package var halfClosed = 5_000
        /// How long a connection stays open after its last response, so that the client can read it.
        package var lingering = 2_000
        /// How long Larder waits for a client's first byte in a tunnel that may be intercepted; a silent client may wait for its server to
        /// send first. A TLS client sends its ClientHello within a round trip; a tunnel to a server that sends first is delayed by this
        /// time.
        package var firstOctets = 2_000
        /// The maximum time for the beginning of an intercepted tunnel, from its first byte to the end of the TLS handshake. Also the
        /// maximum time for a TLS listener, from the connection to the end of the handshake.
        package var clientHandshake = 10_000
        /// How long a client may take for its part of a handshake before Larder may end the handshake in favor of a waiting client.
        package var undisturbedHandshake = 3_000
        /// How long a tunnel stays open without a byte in either direction.
        package var tunnelIdle = 600_000

        package init() {}
    }

    /// Limits on the traces of finished requests, for explanations.
    package struct TraceLimits: Equatable, Sendable {
        /// The maximum number of traces on each loop.
        package var count = 10_000
        /// The maximum size of the traces of all loops, in bytes. If traces take more, the oldest are removed before `count` is reached.
        package var byteCount = 12 << 20

        package init() {}
    }

    /// Whether requests may be forwarded, always or depending on the network, and how recordings are used.
    package enum Mode: Sendable { case live, offline, auto, replay, record, recordMissing, refresh, diff }

    /// The mode of the proxy. It decides whether the egress gate of `transport` is closed.
    package var mode = Mode.live
    /// The recordings to replay; `nil` for none.
    package var layers: ReplaySources?
    /// The file into which exchanges are recorded; `nil` for none.
    package var recording: RecordingFile?
    /// Whether requests without a recording are answered with stored responses of any age.
    package var replaysStore = false
    /// The maximum staleness of a response served while `auto` finds no network; `nil` for no limit.
    package var offlineStalenessLimit: DeltaSeconds? = DeltaSeconds(7 * 86_400)
    package var parseLimits = ParseLimits()
    /// Whether clients may use HTTP/2 inside TLS and in tunnels without TLS. On plain listeners they always may.
    package var offersHTTP2 = false
    /// Whether responses of https origins lose their Alt-Svc field (RFC 7838), which would lead clients past the proxy.
    package var removesAltSvc = true
    package var http2Limits = HTTP2Limits()
    /// The maximum number of streams that one client address may reset in `HTTP2Limits.rateWindow`, on all its connections.
    package var resetsPerClient = 2000
    /// Addresses of this process's other listeners. Requests to them are refused, as are requests to the proxy's own listeners.
    package var otherListeners: [PeerAddress] = []
    /// Read only at startup: a reload does not change these limits.
    package var traceLimits = TraceLimits()
    package var proxyLimits = ProxyLimits()
    /// Time limits in milliseconds.
    package var timeouts = Timeouts()
    /// Connections on the way for requests for which no rule names a way.
    package var transport = TransportConfiguration()
    /// All ways that rules may name.
    package var ways: [UpstreamWay] = [.direct]
    /// The maximum number of client connections; clients beyond it get 503.
    package var connectionLimit = 16_384
    /// The maximum number of clients that are being sent a refusal; the connections of further clients are closed without a response.
    package var refusalLimit = 256
    package var admission = ClientAdmission()
    /// The TLS setup of each listener, in order; `nil`, or a missing entry, for plain text.
    package var listenerTLS: [ListenerTLS?] = []
    /// The name by which rules identify the clients; empty if the clients have no name.
    package var runName = ""
    /// Whether an approver can answer the questions of rules with `ask`. If not, no request waits.
    package var hasApprovers = true
    /// Clients that may use the method PURGE.
    package var purgeClients: [AddressRange] = []
    /// The CA that issues certificates for intercepted hosts.
    package var authority: LocalAuthority?
    /// The maximum number of handshakes in progress on each loop; others wait.
    package var handshakeLimit = 1024
    package var tunnelPorts: ExchangeContext.TunnelPorts = .listed([443, 80])
    package var setCookie = SetCookieStorage.explicit
    /// Which requests are traced; `nil` for none.
    package var tracing: TraceContext.Sampling?
    package var targets = TargetedCacheControl.none
    package var tellsKey = false
    package var hostMismatch: ExchangeContext.HostMismatch = .ignore
    /// The name in Via (RFC 9110 §7.6.3); unique to this instance, so that two proxies in a chain are not treated as a loop.
    package var pseudonym = "larder"

    package init() {}

    /// The mode that results from the state of the network. An unknown network counts as available.
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

    /// The position of the egress gate in a mode. Behind an upstream proxy, a loopback address means another machine.
    func gatePosition(in mode: ExchangeContext.Mode) -> EgressGate.Position {
        guard mode.isClosed else { return .open }
        let isDirect = !transport.leadsThroughProxy && ways.count <= 1
        return self.mode == .auto && isDirect ? .openToThisMachine : .closed
    }

    func tls(ofListener number: Int) -> ListenerTLS? { number < listenerTLS.count ? listenerTLS[number] : nil }

    /// Whether a listener needs certificates of the CA, but there is no CA.
    package var lacksAuthority: Bool { authority == nil && listenerTLS.contains { $0?.showsAuthority == true } }

    /// Whether some clients are authenticated.
    var identifiesClients: Bool {
        admission.passwords != nil || listenerTLS.contains { $0?.asksForCertificates == true }
    }
}
