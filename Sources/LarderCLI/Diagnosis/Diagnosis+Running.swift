import Foundation
import ProxyAdmin

extension Diagnosis {
    /// The Larder that runs, as programs are told of it.
    func running(_ loaded: LoadedSettings, _ folder: PrivateFolder) -> (finding: Finding, larder: JoinedLarder?) {
        let name = "larder"
        guard let path = AdminSocketPath.of(loaded.settings, environment) else {
            let reason = "admin.socket is off, or nothing says where it stands: one that runs could not be asked"
            return (Finding(name, .bad, reason, remedy: "export HOME=~; larder serve &"), nil)
        }
        do {
            let larder = try JoinedLarder(try AdminClient(path: path), over: environment, filesIn: .of(folder))
            let https = larder.intercepts ? "it intercepts https" : "https goes through untouched"
            return (Finding(name, .good, "one runs, on \(larder.environment.proxy); \(https)"), larder)
        } catch AdminClient.Failure.notRunning {
            return (Finding(name, .bad, "none runs: nothing answers on \(path)", remedy: "larder serve &"), nil)
        } catch {
            return (Finding(name, .bad, "one runs, and cannot be asked: \(error)", remedy: "larder stop; larder serve &"), nil)
        }
    }
}
