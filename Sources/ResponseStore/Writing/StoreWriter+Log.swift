/// How the writer keeps SQLite's log short without ever waiting for it: what was accepted goes into the log however long that is.
extension StoreWriter {
    /// Has the log written back where it is long. Where it is very long nothing new goes into it; what was accepted does.
    func keepLogShort() {
        guard let length = tables?.connection.logLength else { return }
        let limits = core.configuration.limits
        isLogLong = length > limits.logHoldBytes
        core.queue.isLogTooLong.store(length > limits.logLimitBytes, ordering: .relaxed)
        if length > limits.checkpointBytes { core.checkpointer.request() }
    }

    /// The log has been written back: bodies go on, and the next transaction tells whether they may for longer.
    func resumePostponed() {
        guard core.checkpointer.takeNews() else { return }
        core.queue.isLogTooLong.store(false, ordering: .relaxed)
        isLogLong = false
        let fillings = postponed
        postponed = []
        write(fillings.map { .filling($0) })
    }
}
