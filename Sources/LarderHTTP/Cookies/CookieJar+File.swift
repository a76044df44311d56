import EventLoop
import Glibc
import HTTPSerialization

/// The content of a cookie file.
private struct CookieFile: Codable {
    /// The version of the format.
    var version = 1
    var cookies: [Cookie]
}

extension CookieJar {
    /// A jar with the cookies of a file that `write(to:)` wrote; an empty jar if there is no such file. Blocks on the disk.
    /// - Throws: `file_failed`, if the file cannot be read or is not a cookie file.
    public convenience init(file path: String, limits: Limits = Limits()) throws(SessionError) {
        let octets: [UInt8]
        do throws(SystemError) {
            let file = try OpenFile.reading(path)
            octets = try file.read(at: 0, atMost: Int(clamping: min(file.length, Self.fileLimit)))
        } catch {
            guard error.code == ENOENT else { throw SessionError(.fileFailed, "\(path): \(error)") }
            self.init(limits: limits)
            return
        }
        let found: CookieFile?
        do { found = try JSONValueDecoder().decode(CookieFile.self, from: JSONValue(parsing: octets)) } catch { found = nil }
        guard let found, found.version == 1 else { throw SessionError(.fileFailed, "\(path): not a cookie file of version 1") }
        self.init(found.cookies, limits: limits)
    }

    /// Writes the cookies to a file that only its owner can read (mode 0600). The file is replaced at once when it is complete and on
    /// disk. Expired cookies are left out. Blocks on the disk.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - includesSessionCookies: whether the cookies without an expiry time are written too.
    /// - Throws: `file_failed`.
    public func write(to path: String, includesSessionCookies: Bool = false) throws(SessionError) {
        let cookies = all.filter { includesSessionCookies || $0.expires != nil }
        do {
            let octets = Array(try JSONValueEncoder().encode(CookieFile(cookies: cookies)).description.utf8)
            try FileMove.write(octets, to: path, mode: 0o600)
        } catch { throw SessionError(.fileFailed, "\(path): \(error)") }
    }

    /// A jar has at most some thousand cookies of 4 KiB.
    private static let fileLimit: UInt64 = 64 << 20
}
