import ClientPasswords
import CommandSupport
import ProxyPolicy
import TextCoding

/// Reads the file that `clients.passwords` names.
enum PasswordLoading {
    static let fileLimit = 1 << 20

    /// - Returns: the problems, each with file and line. If there are none, `loadedPasswords` is set.
    static func load(
        _ clients: inout LarderSettings.Clients, listen: [ListenAddress], origins: [String: SettingsReader.Origin]
    ) -> [LocatedProblem] {
        func origin(_ name: String) -> SettingsReader.Origin {
            origins[name] ?? SettingsReader.Origin(layer: "settings", place: .none)
        }
        guard let name = clients.passwords else {
            if clients.authenticate == .unlisted || listen.contains(where: { $0.tls?.clients != nil }) { return [] }
            let message =
                "clients cannot authenticate: clients.passwords names no file, and no listener asks for certificates"
            let asking = origin("clients.authenticate")
            let problem = SettingsProblem(message, path: "clients.authenticate", at: asking.place)
            return [LocatedProblem(source: asking.layer, problem: problem)]
        }
        let origin = origin("clients.passwords")
        let path = origin.path(of: name)
        let bytes: [UInt8]
        do throws(LocalFile.Unreadable) {
            bytes = try LocalFile.secretBytes(at: path, atMost: fileLimit)
        } catch {
            let message = "cannot read \(printable(path, limit: 4096)): \(error.reason)"
            return [
                LocatedProblem(
                    source: origin.layer, problem: SettingsProblem(message, path: "clients.passwords", at: origin.place))
            ]
        }
        do throws(PasswordFile.Faults) {
            clients.loadedPasswords = try PasswordFile(parsing: bytes)
            return []
        } catch {
            return error.all.map { fault in
                let place = SettingsPlace(line: fault.line, column: 1)
                return LocatedProblem(source: path, problem: SettingsProblem(fault.reason, path: "", at: place))
            }
        }
    }
}
