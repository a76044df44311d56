import LarderSettings
import ServerTrust
import TextCoding

extension PinnedHost {
    /// Merges entries so that each host occurs once, as settings require.
    /// - Parameter addsUp: whether the pins of several entries for one host are combined; otherwise they must be equal.
    static func gathered(_ hosts: [PinnedHost], addsUp: Bool) throws(PinFormatError) -> [PinnedHost] {
        var result: [PinnedHost] = []
        var indices: [HostScope: Int] = [:]
        for host in hosts.flatMap(\.parts) {
            guard let scope = host.scope else { throw PinFormatError("`\(printable(host.title))` is not a host") }
            if host.live.isEmpty { throw PinFormatError("\(host.title) has no pins") }
            // A backup must not equal the key in use: it would be lost together with that key (RFC 7469 §4.3).
            if !Set(host.live).isDisjoint(with: host.backup) {
                throw PinFormatError("a backup of \(host.title) is also an active pin of this host")
            }
            guard let index = indices[scope] else {
                indices[scope] = result.count
                result.append(host)
                continue
            }
            var same = result[index]
            same.name = host.name
            if addsUp {
                result[index].live += host.live.filter { !same.live.contains($0) }
            } else if same != host {
                throw PinFormatError("\(host.title) is listed twice, with different pins")
            }
        }
        return joined(result)
    }

    /// For formats in which one entry can cover both: combines the entry for a name with the entry for all names below it if their pins
    /// are the same.
    static func joined(_ hosts: [PinnedHost]) -> [PinnedHost] {
        var result: [PinnedHost] = []
        var indices: [String: Int] = [:]
        for host in hosts {
            var twin = host
            twin.breadth = host.breadth == .below ? .itself : .below
            if [.itself, .below].contains(host.breadth), let index = indices[twin.title], result[index] == twin {
                result[index].breadth = .itselfAndBelow
            } else {
                indices[host.title] = result.count
                result.append(host)
            }
        }
        return result
    }
}
