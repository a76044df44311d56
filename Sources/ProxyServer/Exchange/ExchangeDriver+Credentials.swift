import EventLoop
import HTTPMessage
import ProxyCore

/// Names and passwords: known at once, or looked at off the loop.
extension ExchangeDriver {
    /// Who asks: whoever is in a tunnel has proved it when the tunnel was asked for.
    var requestSender: RequestSender {
        // Who may purge is known by address.
        let address: IPAddress? = if case .other = exchange.request.method { peer.address } else { nil }
        guard worker.identifiesClients else { return RequestSender(address: address) }
        if let connection, connection.tunnel != nil || !connection.user.isEmpty {
            return RequestSender(address: address, user: connection.user)
        }
        return RequestSender(address: address, needsCredentials: worker.settings.admission.asks(peer))
    }

    func judgeCredentials() {
        // Asked only where both are there.
        guard let credentials = exchange.incoming.credentials, let passwords = worker.settings.admission.passwords else {
            return handle(.credentialsJudged(.refused, at: worker.now))
        }
        let epoch = epoch
        let judgement = worker.shared.credentials.judge(credentials, by: passwords, from: peer.address, at: loop.now) {
            worker.loop.reply { [self] (judgement: CredentialsJudgement) in
                guard self.epoch == epoch else { return }
                handle(.credentialsJudged(judgement, at: worker.now))
                connection?.flush()
            }
        }
        if let judgement { handle(.credentialsJudged(judgement, at: worker.now)) }
    }
}
