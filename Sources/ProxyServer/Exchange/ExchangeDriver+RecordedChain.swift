import HTTPCaching
import HTTPMessage
import ProxyCore

/// Chains that were recorded with what is stored: judged off the loop, since signatures and revocation lists take their time.
extension ExchangeDriver {
    func judgeRecordedChain() {
        let context = exchange.context
        guard let chain = exchange.cache.selected?.chain, let judge = context.judgeChain else {
            return handle(.recordedChainJudged(.unjudged, at: worker.now))
        }
        let host = String(decoding: exchange.originHost, as: UTF8.self)
        let (port, now, epoch) = (exchange.originPort, worker.now, epoch)
        let reply = worker.loop.reply { [self] (judgement: ChainJudgement) in
            guard self.epoch == epoch else { return }
            handle(.recordedChainJudged(judgement, at: worker.now))
            connection?.flush()
        }
        let isTaken = worker.checks.run(.recordedChain, limit: context.limits.waitingJudgements, reply: reply) {
            judge(chain, host, port, now)
        }
        if isTaken { return }
        worker.loop.forget(reply)
        handle(.recordedChainJudged(.unjudged, at: worker.now))
    }
}
