import Foundation
import ServerTrust

/// Judges every https host by the anchors of the system.
enum SystemTrust {
    /// Reads the bundle, which takes some tens of milliseconds: not on a loop.
    /// - Parameter warn: hears why there are none.
    /// - Returns: `nil` where no bundle can be read. No https host is believed then.
    static func policies(
        bundles: [String] = TrustAnchors.systemBundles, warn: (String) -> Void
    ) -> TrustPolicySet? {
        guard let path = bundles.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            warn("there is no bundle of the system's certificates: https hosts are not asked")
            return nil
        }
        do {
            let anchors = try TrustAnchors(pem: Array(Data(contentsOf: URL(fileURLWithPath: path))))
            return try TrustPolicySet([], fallback: .policy(TrustPolicy(anchors: .given(anchors))))
        } catch {
            warn("\(path) holds no certificates that can be read: https hosts are not asked")
            return nil
        }
    }
}
