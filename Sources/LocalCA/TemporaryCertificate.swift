import CommandSupport
import Foundation
import ServerTrust

/// A certificate in a temporary file that a tool reads.
enum TemporaryCertificate {
    static func with(
        _ certificate: Certificate, _ work: (_ file: String) throws(TrustStoreError) -> Void
    ) throws(TrustStoreError) {
        let file = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID().uuidString).pem").path
        do throws(WholeFile.Unwritten) {
            try WholeFile.write(certificate.pem, to: file, replaces: false)
        } catch {
            throw TrustStoreError("cannot write \(file): \(error.reason)")
        }
        defer { unlink(file) }
        try work(file)
    }
}
