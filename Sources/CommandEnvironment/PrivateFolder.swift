import CommandSupport
import Foundation
import ProxyAdmin
import TextCoding

/// A folder for the time of one run, its owner's alone.
package struct PrivateFolder {
    package let path: String

    /// The first place where one can be made. The superuser's may be passed through: apt fetches as a user without rights, who has to
    /// reach what it believes. There is no secret in it. A place whose name leaves no room for a socket's is passed over.
    /// - Returns: `nil` where none can be made.
    package init?(_ environment: [String: String]) {
        let places = (environment["TMPDIR"].map { [$0] } ?? []) + ["/tmp", "/var/tmp", "/dev/shm"]
        for place in places where place.hasPrefix("/") && !place.unicodeScalars.contains(where: \.isControl) {
            let folder = "\(place)/larder-run.XXXXXX"
            guard Self.adminSocket(in: folder).utf8.count <= UnixAddress.longestPath else { continue }
            var template = Array(folder.utf8CString)
            guard mkdtemp(&template) != nil else { continue }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if geteuid() == 0 { chmod(path, 0o711) }
            return
        }
        return nil
    }

    package var adminSocket: String { Self.adminSocket(in: path) }

    private static func adminSocket(in folder: String) -> String { "\(folder)/admin.sock" }

    /// With all that is in it.
    package func remove() {
        try? FileManager.default.removeItem(atPath: path)  // what is left stands in a folder for such
    }

    /// - Throws: where there is no room.
    func write(_ octets: [UInt8], to file: String) throws(WholeFile.Unwritten) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .lastError }
        defer { close(descriptor) }
        let code = Descriptor.write(octets[...], to: descriptor)
        // Whatever the umask says.
        guard code == 0, fchmod(descriptor, 0o644) == 0 else { throw WholeFile.Unwritten(code: code == 0 ? errno : code) }
    }
}
