import SQLiteDatabase

/// How the writer bounds SQLite's log (WAL).
///
/// From `checkpointBytes` on, a thread of its own writes the log back while the writer goes on. A log that is written to all the time never
/// becomes empty by that, so three more bounds follow, each slowing what feeds the log:
/// - `logHoldBytes`: bodies that are being received, evictions below the high mark and purges wait, and the writer itself restarts the log as soon as the
///   checkpointer has caught up.
/// - `logLimitBytes`: the queue accepts a response only while the log, and what the queue will add to it, stay below.
/// - The same, reached all the same: no transaction begins before the log was restarted.
///
/// One transaction adds less than 100 MiB (`transactionOperations`, and the slices of evictions, purges and accesses), so the log stays below
/// 256 MiB.
extension StoreWriter {
    /// To be called after each commit.
    /// - Returns: the log's length, and by how much the transaction has made it longer.
    func measureLog() -> (length: Int, growth: Int) {
        guard let length = tables?.connection.logLength else { return (0, 0) }
        // A shorter one was begun anew.
        let growth = length >= lastLogLength ? length - lastLogLength : length
        lastLogLength = length
        return (length, growth)
    }

    /// Has the log written back where it is long.
    func keepLogShort() {
        let limits = core.configuration.limits
        isLogLong = lastLogLength > limits.logHoldBytes
        if lastLogLength > limits.checkpointBytes { core.checkpointer.request() }
    }

    /// A checkpoint has ended: a long log is begun anew, and what waited for that goes on.
    func resumePostponed(now: Int64) {
        if let isWhole = core.checkpointer.takeNews() {
            if isLogLong, !(isWhole && restartLog()) {
                // Another connection is reading what would be overwritten.
                nextCheckpoint = now + StoreWriter.checkpointRetryMilliseconds
            } else {
                isLogLong = false
            }
        } else if isLogLong, now >= nextCheckpoint {
            core.checkpointer.request()
        }
        guard !isLogLong, !postponed.isEmpty else { return }
        let pendingResponses = postponed
        postponed = []
        write(pendingResponses.map { .pending($0) })
    }

    private static let checkpointRetryMilliseconds: Int64 = 100

    /// Waits until a transaction may begin.
    /// - Throws: `busy` where another connection has kept the log from being begun anew for too long.
    func waitForLog() throws(StoreError) {
        guard lastLogLength > core.configuration.limits.logLimitBytes else { return }
        for _ in 0..<core.configuration.limits.logAttempts {
            core.checkpointer.requestAndWait(atMost: 1000)
            if restartLog() { return }
        }
        throw StoreError(
            .busy, path: file.path,
            message:
                "the write-ahead log is \(lastLogLength >> 20) MiB long, because a program that reads it prevents a checkpoint")
    }

    /// - Returns: whether the next transaction begins the log anew.
    private func restartLog() -> Bool {
        // A checkpoint that fails is attempted again before the next transaction.
        guard let connection = tables?.connection, (try? connection.checkpoint(.restart)) != nil else { return false }
        lastLogLength = 0
        core.queue.noteLog(length: 0)
        return true
    }
}
