import EventLoop
import ProxyCore

/// Names and passwords: known at once, or looked at off the loop.
extension ExchangeDriver {
    /// Whoever is in a tunnel has said so when it was asked for.
    func identifyClient() {
        if let connection, connection.tunnel != nil || !connection.user.isEmpty {
            exchange.user = connection.user
        } else {
            exchange.needsCredentials = worker.settings.admission.asks(peer)
        }
    }

    func judgeCredentials() {
        // Asked only where both are there.
        guard let credentials = exchange.credentials, let passwords = worker.settings.admission.passwords else {
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
