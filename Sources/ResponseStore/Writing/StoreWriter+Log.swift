import SQLiteDatabase

/// How the writer bounds SQLite's log (WAL).
///
/// Above `checkpointBytes`, a separate thread writes the log back while the writer continues. That never empties a log that is
/// written to all the time, so three more limits slow down the work that adds to the log:
/// - `logHoldBytes`: bodies being received, evictions below the high mark and purges wait, and the writer restarts the log as soon as
///   the checkpointer has caught up.
/// - `logLimitBytes`: the queue accepts a response only while the log, with what the queue will add to it, stays below this limit.
/// - `logLimitBytes` again: if the log reaches it nevertheless, no transaction begins before the log is restarted.
///
/// One transaction adds less than 100 MiB (`transactionOperations`, and the slices of evictions, purges and accesses), so the log stays
/// below 256 MiB.
extension StoreWriter {
    /// Call it after each commit.
    /// - Returns: the log's length in bytes, and by how much the transaction has extended it.
    func measureLog() -> (length: Int, growth: Int) {
        guard let length = tables?.connection.logLength else { return (0, 0) }
        // If the log is shorter than before, it has been restarted.
        let growth = length >= lastLogLength ? length - lastLogLength : length
        lastLogLength = length
        return (length, growth)
    }

    /// Requests a checkpoint if the log is long.
    func keepLogShort() {
        let limits = core.configuration.limits
        isLogLong = lastLogLength > limits.logHoldBytes
        if lastLogLength > limits.checkpointBytes { core.checkpointer.request() }
    }

    /// After a checkpoint, restarts a long log and resumes the work that waited for that.
    func resumePostponed(now: Int64) {
        if let isWhole = core.checkpointer.takeNews() {
            if isLogLong, !(isWhole && restartLog()) {
                // Another connection is reading pages that would be overwritten.
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
    /// - Throws: `busy` if another connection has kept the log from being restarted for too long.
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

    /// - Returns: whether the next transaction restarts the log.
    private func restartLog() -> Bool {
        // A failed checkpoint is tried again before the next transaction.
        guard let connection = tables?.connection, (try? connection.checkpoint(.restart)) != nil else { return false }
        lastLogLength = 0
        core.queue.noteLog(length: 0)
        return true
    }
}
