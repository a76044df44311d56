import CommandSupport
import Foundation
import ProxyAdmin
import TextCoding

/// A temporary folder for one run, accessible to its owner alone.
package struct PrivateFolder {
    package let path: String

    /// Creates the folder in the first suitable place. If root creates the folder, other users may traverse it: apt fetches as an
    /// unprivileged user, which must be able to read the CA certificates. The folder contains no secret. A place is skipped if its path
    /// is too long for a Unix socket in it.
    /// - Returns: `nil` if none can be made.
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

    /// Removes the folder with its content.
    package func remove() {
        try? FileManager.default.removeItem(atPath: path)  // if this fails, the folder stays among the temporary files
    }

    /// - Throws: an error if the file cannot be written.
    func write(_ octets: [UInt8], to file: String) throws(WholeFile.Unwritten) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .lastError }
        defer { close(descriptor) }
        let code = Descriptor.write(octets[...], to: descriptor)
        // `fchmod` sets the mode regardless of the umask.
        guard code == 0, fchmod(descriptor, 0o644) == 0 else { throw WholeFile.Unwritten(code: code == 0 ? errno : code) }
    }
}
