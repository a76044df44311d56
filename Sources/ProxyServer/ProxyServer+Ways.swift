import HTTPMessage
import ParentSelection
import ProxyCore
import ServerTrust
import UpstreamTransport

/// The ways to the origins, in the form that explanations and reports need.
extension ProxyServer {
    /// The active ways that lead through parents, with the state of their members.
    package var parentGroups: [(way: String, state: ParentGroupState)] {
        shared.current.settings.ways.compactMap { way in
            if case .parents(let group) = way.kind { (way.name, group.snapshot) } else { nil }
        }
    }

    static func routeSummary(_ settings: ServerSettings) -> ExchangeContext.RouteLookUp {
        let usual = settings.transport
        let ways = settings.ways
        return { question in
            var configuration = usual
            if let name = question.choice?.name, name != usual.wayName {
                guard let way = ways.first(where: { $0.name == name }) else { return nil }
                configuration = usual.through(way)
            }
            return RouteSummary(question, on: configuration)
        }
    }
}

extension RouteSummary {
    fileprivate init(_ question: Question, on way: TransportConfiguration) {
        let verifier =
            question.isTunnel
            ? OriginVerifier.larder
            : way.verifier(
                ofHost: question.host, port: question.port, hasCredentials: question.hasCredentials,
                isDelegated: question.choice?.isVerifiedByParent == true, at: POSIXTime(question.now))
        let isForwarded = !question.isTunnel && (!question.isSecure || verifier == .parent)
        let isVerifiedByParent: Bool? = question.isSecure && !question.isTunnel ? verifier == .parent : nil
        if let group = way.parents {
            let key = isForwarded ? KeyHash(of: question.key.span) : KeyHash(of: "\(question.host):\(question.port)")
            self.init(
                name: way.wayName, proxy: group.firstChoice(for: key).url, isParent: true, isTunnelled: !isForwarded,
                isVerifiedByParent: isVerifiedByParent)
        } else {
            self.init(
                name: way.wayName, proxy: way.proxy?.url, isParent: false,
                isTunnelled: question.isTunnel || question.isSecure || way.proxy?.scheme.isSOCKS == true,
                isVerifiedByParent: isVerifiedByParent)
        }
    }
}
