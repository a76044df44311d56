import LarderSettings
import ProxyAdmin
import TextCoding

/// Reports and changes the mode of a running server.
extension RunningServer {
    var modeRoutes: [AdminRoute] {
        ModeRoutes.routes(LarderSettings.Mode.allCases.map(\.rawValue)) {
            self.told
        } change: { change, ended in
            self.inTurn({ self.make(change) }, ended)
        } + [DifferencesRoute.route { self.recordings.comparison }]
    }

    private func make(_ change: ModeRoutes.Change) -> ModeRoutes.Outcome {
        let former = served.withLock { $0 }
        let mode = change.mode.flatMap(LarderSettings.Mode.init) ?? former.settings.mode
        let outcome = made(change, mode, former)
        noteAudit(of: outcome, from: former.settings.mode, to: mode)
        return outcome
    }

    private func made(
        _ change: ModeRoutes.Change, _ mode: LarderSettings.Mode, _ former: ServedSettings
    ) -> ModeRoutes.Outcome {
        if change.rewinds, !former.switched(to: mode).settings.replays {
            return .refused(reason: "there is no replay to restart: mode \(mode.rawValue) does not replay recordings")
        }
        if mode != former.settings.mode {
            do throws(RunningRecordings.Refusal) {
                try activate(former.switched(to: mode))
            } catch {
                return .refused(reason: "\(error.reason); mode \(former.settings.mode.rawValue) stays active")
            }
            let active = served.withLock { $0 }
            if let refreshed = active.refreshed { log.logger.warning("\(printable(refreshed.refreshing, limit: 4096))") }
            log.logger.notice("the mode is \(active.settings.mode.rawValue)")
        }
        if change.rewinds { recordings.layers?.rewind() }
        return .done(told)
    }

    private var told: ModeRoutes.Report {
        var told = ModeRoutes.Report(mode: served.withLock { $0.settings.mode.rawValue }, departures: server.departureCount)
        if let file = recordings.file {
            let summary = file.summary
            told.recording = ModeRoutes.Report.Recording(
                file: file.path, recorded: summary.counts.recorded, unrecorded: summary.unrecordedCount,
                failure: summary.failure)
        }
        return told
    }
}
