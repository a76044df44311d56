/// The method PURGE, carried out.
extension ExchangeDriver {
    /// Answers once what is covered is deleted, which for keys comes with the acknowledgement.
    func purge() {
        let epoch = epoch
        let reply = worker.loop.reply { [self] (count: Int?) in
            guard self.epoch == epoch else { return }
            handle(.purged(count: count, at: worker.now))
            connection?.flush()
        }
        let isTaken = worker.shared.purge(.keys(exchange.incoming.purge?.keys ?? []), isSoft: false, at: worker.now) { progress in
            switch progress {
            case .inEffect: break
            case .done(let count): reply.send(count)
            case .interrupted: reply.send(nil)
            }
        }
        if !isTaken { reply.send(nil) }
    }
}
