import ProxyAdmin

/// The mode of a running server, told and switched.
extension RunningServer {
    var modeRoutes: [AdminRoute] {
        ModeRoutes.routes(LarderSettings.Mode.allCases.map(\.rawValue)) {
            self.served.withLock { $0.settings.mode.rawValue }
        } change: { change in
            self.inTurn { self.make(change) }
        }
    }

    private func make(_ change: ModeRoutes.Change) -> ModeRoutes.Outcome {
        let former = served.withLock { $0 }
        let mode = change.mode.flatMap(LarderSettings.Mode.init) ?? former.settings.mode
        if change.rewinds, !mode.replays {
            return .refused(reason: "there is nothing to begin anew: nothing is replayed in mode \(mode.rawValue)")
        }
        if mode != former.settings.mode {
            do throws(RunningRecordings.Refusal) {
                try putInForce(former.switched(to: mode))
            } catch {
                return .refused(reason: "\(error.reason); mode \(former.settings.mode.rawValue) stays in force")
            }
            log.logger.notice("the mode is \(mode.rawValue)")
        }
        if change.rewinds { recordings.layers?.rewind() }
        return .done(mode: mode.rawValue)
    }
}
