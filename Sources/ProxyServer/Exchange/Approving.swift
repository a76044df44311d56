import EventLoop
import HTTPMessage
import ProxyCore

/// Asks an approver about a request, and brings the answer. Not used for requests that no rule asks about.
final class Approving {
    private var waiting: (id: UInt64, reply: Reply<ApprovalAnswer>, timer: TimerID)?

    func ask(for driver: ExchangeDriver) {
        let approvals = driver.worker.shared.approvals
        if let remembered = approvals.remembered(of: driver.exchange.askingRuleName),
            let allows = driver.exchange.answer(by: remembered)
        {
            approvals.noteUnasked(.remembered)
            return tell(allows ? .allowed : .refused(reason: "denied"), to: driver)
        }
        let question = driver.exchange.question
        guard driver.worker.settings.hasApprovers else {
            approvals.noteUnasked(.noApprover)
            return tell(question.allowsOtherwise ? .allowed : .refused(reason: "no_approver"), to: driver)
        }
        let epoch = driver.epoch
        let reply = driver.loop.reply { [self] (answer: ApprovalAnswer) in
            guard driver.epoch == epoch else { return }
            endTimer(for: driver)
            tell(answer, to: driver)
            driver.client?.flush()
        }
        let request = driver.heldRequest
        // The wait begins before the request can be answered on another thread.
        let timer = driver.loop.makeTimer(driver)
        waiting = (request.id, reply, timer)
        driver.loop.setTimer(timer, afterMilliseconds: Int(question.timeout))
        if case .answered(let answer) = approvals.ask(request, driver.worker.settings.proxyLimits, reply) {
            driver.loop.forget(reply)
            endTimer(for: driver)
            tell(answer, to: driver)
        }
    }

    /// The rules may have changed while the request waited.
    private func tell(_ answer: ApprovalAnswer, to driver: ExchangeDriver) {
        var answer = answer
        if answer == .allowed, let fault = driver.exchange.fault(under: driver.worker.context) { answer = .overruled(fault) }
        driver.handle(.approvalAnswered(answer, at: driver.now))
    }

    func isTimed(by timer: TimerID) -> Bool { waiting?.timer == timer }

    func tookTooLong(for driver: ExchangeDriver) {
        guard let waiting, driver.worker.shared.approvals.end(waiting.id, .timedOut) else { return }
        driver.loop.forget(waiting.reply)
        endTimer(for: driver)
        tell(driver.exchange.question.allowsOtherwise ? .allowed : .refused(reason: "timeout"), to: driver)
        driver.client?.flush()
    }

    func exchangeEnded(for driver: ExchangeDriver) {
        guard let waiting else { return }
        _ = driver.worker.shared.approvals.end(waiting.id, .clientGone)
        driver.loop.forget(waiting.reply)
        endTimer(for: driver)
    }

    private func endTimer(for driver: ExchangeDriver) {
        if let timer = waiting?.timer { driver.loop.removeTimer(timer) }
        waiting = nil
    }
}

extension ExchangeDriver {
    fileprivate var heldRequest: HeldRequest {
        var method = ""
        var url = ""
        exchange.withHeads { request, _ in
            method = PolicyReports.text(request.span(of: request.methodName), limit: PolicyReports.methodLimit)
            url = PolicyReports.text(request.span(of: request.rawTargetBeforeQuery), limit: HeldRequest.urlLimit)
        }
        let question = exchange.question
        return HeldRequest(
            id: exchange.id, rule: exchange.askingRuleName, client: "\(peer.address)",
            user: String(decoding: (exchange.incoming.sender?.user ?? []).prefix(HeldRequest.nameLimit), as: UTF8.self),
            method: method, url: url, askedAt: now, deadline: Timestamp(milliseconds: now.milliseconds + question.timeout),
            question: question, scopes: exchange.answerScopes)
    }
}
