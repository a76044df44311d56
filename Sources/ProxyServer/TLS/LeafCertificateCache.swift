import CertificateAuthority
import EventLoop
import HTTPMessage
import ServerTrust
import UpstreamTransport

/// The certificates that one CA has issued for hosts, up to a limit, for all loops. A missing certificate is issued on another thread, once
/// for all handshakes that wait for it.
final class LeafCertificateCache: Sendable {
    typealias Answer = Result<Leaf, MissingLeaf>

    private struct State {
        var leaves = LeafCache<Leaf>()
        var waiting: [LeafName: [Reply<Answer>]] = [:]
    }

    private let authority: LocalAuthority
    private let state = Guarded(State())

    /// The maximum number of names waiting for a certificate.
    static let waitingLimit = 1024

    var root: Certificate { authority.root }

    init(_ authority: LocalAuthority) { self.authority = authority }

    func leaf(for name: LeafName, at now: POSIXTime) -> Leaf? {
        state.withLock { $0.leaves.context(for: name, at: atClients(now)) }
    }

    /// Issues a certificate; `reply` is always called.
    func make(_ name: LeafName, at now: POSIXTime, on maker: LoopHandle, reply: Reply<Answer>) {
        enum Step { case joined, refused, first }
        let step = state.withLock { state -> Step in
            if state.waiting[name] != nil {
                state.waiting[name]?.append(reply)
                return .joined
            }
            if state.waiting.count >= Self.waitingLimit { return .refused }
            state.waiting[name] = [reply]
            return .first
        }
        switch step {
        case .joined: break
        case .refused: reply.send(.failure(.busy))
        case .first:
            let isPosted = maker.post { [self] _ in answer(name, made(name, at: atClients(now))) }
            if !isPosted { answer(name, .failure(.failed)) }
        }
    }

    private func atClients(_ now: POSIXTime) -> POSIXTime { POSIXTime(seconds: now.seconds + authority.clockOffset) }

    private func made(_ name: LeafName, at now: POSIXTime) -> Answer {
        do throws(LeafRefusal) {
            return .success(try authority.leaf(for: name, at: now))
        } catch {
            return .failure(MissingLeaf(error))
        }
    }

    private func answer(_ name: LeafName, _ answer: Answer) {
        let replies = state.withLock { state in
            if case .success(let leaf) = answer { state.leaves.keep(leaf, of: leaf) }
            return state.waiting.removeValue(forKey: name) ?? []
        }
        for reply in replies { reply.send(answer) }
    }
}

extension MissingLeaf {
    init(_ refusal: LeafRefusal) {
        switch refusal {
        case .outsideConstraint: self = .outsideConstraint
        case .rootNotYetValid: self = .authorityNotYetValid
        case .rootExpired: self = .authorityExpired
        case .cryptographyFailed: self = .failed
        }
    }
}
