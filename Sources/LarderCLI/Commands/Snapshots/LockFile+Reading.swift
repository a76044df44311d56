import CommandSupport
import ProxyAdmin
import Snapshots

extension LockFile {
    /// Why a lock file cannot be used; the text names the file.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads a lock file; it may be a pipe that another program writes to.
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
