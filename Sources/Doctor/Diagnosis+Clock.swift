import CommandSupport
import Foundation
import LarderSettings
import ServerTrust

extension Diagnosis {
    static let clockRemedy = "sudo timedatectl set-ntp true"

    /// No time server is contacted: the checks use times of files, which are in the past, and the validity of the system's CA certificates.
    package func clock(at now: POSIXTime) -> Finding {
        let written = Self.writtenAt("/proc/self/exe")
        if let written, now.seconds < written.seconds - Self.tolerance {
            return Finding(
                "clock", .bad,
                "the clock is slow: it shows \(CalendarDay(of: now)), but Larder's program file was written on \(CalendarDay(of: written))",
                remedy: Self.clockRemedy)
        }
        let anchors = systemAnchors()
        let ended = anchors.filter { $0.notAfter.map { $0 < now } ?? false }.count
        if !anchors.isEmpty, ended * 2 > anchors.count {
            return Finding(
                "clock", .bad,
                "the clock is fast: it shows \(CalendarDay(of: now)), and by that day \(ended) of the system's \(anchors.count) "
                    + "CA certificates have expired",
                remedy: Self.clockRemedy)
        }
        return Finding(
            "clock", .good,
            "\(CalendarDay(of: now)) is plausible: it fits the date of Larder's program file and the system's CA certificates")
    }

    /// The tolerance in seconds: a file may come from a machine whose clock is ahead.
    private static let tolerance: Int64 = 86_400

    private static func writtenAt(_ path: String) -> POSIXTime? {
        var facts = stat()
        return stat(path, &facts) == 0 ? POSIXTime(seconds: Int64(facts.st_mtim.tv_sec)) : nil
    }

    private func systemAnchors() -> [Certificate] {
        guard let path = TrustAnchors.systemBundles.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            return []
        }
        // Without certificates, the check says nothing.
        let octets = (try? LocalFile.bytes(at: path, atMost: TrustFiles.bundleLimit)) ?? []
        return Certificate.reading(pem: octets) ?? []
    }
}
