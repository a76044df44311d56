import CommandSupport
import ProxyAdmin
import Snapshots

extension LockFile {
    /// Why there is no lock to hold anything against, in words that name the file.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads one; also what another program writes into a pipe.
    init(path: String) throws(Unusable) {
        let octets: [UInt8]
        do throws(LocalFile.Unreadable) {
            octets = try LocalFile.bytes(at: path, atMost: Self.lengthLimit, mayBePipe: true)
        } catch { throw Unusable(description: "cannot read the lock \(path): \(error.reason)") }
        do throws(Fault) {
            try self.init(parsing: String(decoding: octets, as: UTF8.self))
        } catch { throw Unusable(description: "\(path):\(error)") }
    }
}
