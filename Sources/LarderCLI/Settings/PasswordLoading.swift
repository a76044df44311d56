import ClientPasswords
import ProxyAdmin
import ProxyPolicy

/// Reads the file that `clients.passwords` names.
enum PasswordLoading {
    static let fileLimit = 1 << 20

    /// - Returns: what is wrong, with its file and line; where nothing is, `loadedPasswords` stands.
    static func load(
        _ clients: inout LarderSettings.Clients, origins: [String: SettingsReader.Origin]
    ) -> [LocatedProblem] {
        guard let name = clients.passwords else { return [] }
        let origin = origins["clients.passwords"] ?? SettingsReader.Origin(layer: "settings", place: .none)
        let path = origin.path(of: name)
        let octets: [UInt8]
        do throws(SettingsFile.Unreadable) {
            octets = try SettingsFile.secretOctets(at: path, atMost: fileLimit)
        } catch {
            let message = "cannot read \(printable(path, limit: 4096)): \(error.reason)"
            return [
                LocatedProblem(
                    source: origin.layer, problem: SettingsProblem(message, path: "clients.passwords", at: origin.place))
            ]
        }
        do throws(PasswordFile.Faults) {
            clients.loadedPasswords = try PasswordFile(parsing: octets)
            return []
        } catch {
            return error.all.map { fault in
                let place = SettingsPlace(line: fault.line, column: 1)
                return LocatedProblem(source: path, problem: SettingsProblem(fault.reason, path: "", at: place))
            }
        }
    }
}
