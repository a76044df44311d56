import ArgumentParser
import CommandSupport
import PinTools
import ProxyAdmin
import ServerTrust
import TextCoding

extension PinLearning {
    /// Learns from the access log instead of contacting servers.
    /// - Parameter servers: the servers to learn; if empty, all servers in the log that have no policy yet.
    /// - Throws: an exit code, after reporting the problem.
    func learn(
        _ servers: [NamedServer], fromLog source: AccessLogSource
    ) throws(ExitCode) -> [(server: NamedServer, result: Result<LearnedPins, Refusal>)] {
        let path = try path(of: source)
        func say(_ text: String) { Terminal.talk("larder: \(printable(path, limit: 4096)): \(printable(text, limit: 4096))\n") }
        let log: ChainLog
        do throws(ChainLog.Unusable) {
            log = try ChainLog.reading(path, of: servers.map(\.logged))
        } catch {
            say(error.reason)
            throw .failure
        }
        for note in log.notes { say(note) }
        if servers.isEmpty, log.sightings.isEmpty {
            say("the log contains no verified server")
            throw .failure
        }
        var found: [NamedServer] = []
        if servers.isEmpty {
            for server in log.sightings.keys.sorted(by: { ($0.host, $0.port) < ($1.host, $1.port) }).map(NamedServer.init) {
                if let site = trust.ownSite(of: server) ?? trust.pinningSite(of: server) {
                    say("\(server.title) already has a policy, at \(site.position); skipped")
                } else {
                    found.append(server)
                }
            }
        }
        return (servers.isEmpty ? found : servers).map { server in
            (server, Result { () throws(Refusal) in try learned(server, log) })
        }
    }

    private func path(of source: AccessLogSource) throws(ExitCode) -> String {
        if case .file(let path) = source { return path }
        let log = settings.log.access
        if log.path != "-", log.format != .off { return log.path }
        Terminal.talk("larder: the settings name no access log file (log.access.path): give --from-log=FILE\n")
        throw ExitCode(2)
    }

    private func learned(_ server: NamedServer, _ log: ChainLog) throws(Refusal) -> LearnedPins {
        guard let sightings = log.sightings[server.logged] else {
            throw Refusal(reason: "the log says that the server's certificate was not verified")
        }
        let site = trust.site(host: server.host, port: server.origin.port)
        return try LoggedChains(
            server: server, sightings: sightings, choice: choice, isEnforced: isEnforced, backup: backup,
            day: CalendarDay(of: now), words: site.wordsWithoutPins
        ).learned()
    }
}

extension NamedServer {
    fileprivate var logged: ChainLog.Server { ChainLog.Server(host: host, port: origin.port) }

    /// The server's name in the form in which users write it.
    fileprivate init(_ server: ChainLog.Server) {
        self.init(host: server.host, port: server.port == Self.usualPort ? nil : server.port)
    }
}
