import Foundation
import HTTPMessage
import ServerTrust

/// A file that a command sees in place of the system's file, in its own mount namespace.
package struct MountedFile: Equatable {
    let file: String
    let place: String

    package init(file: String, place: String) {
        self.file = file
        self.place = place
    }

    static let resolverPlace = "/etc/resolv.conf"
    static let hostsPlace = "/etc/hosts"

    /// The machine's name for `/etc/hosts`; `nil` if the machine's name is not a valid host name.
    static var machineName: String? {
        var octets = [CChar](repeating: 0, count: 256)
        guard gethostname(&octets, octets.count - 1) == 0 else { return nil }
        let name = octets.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        let isHostName = name.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || "-.".utf8.contains($0) }
        return !name.isEmpty && isHostName ? String(decoding: name, as: UTF8.self) : nil
    }

    /// Where Debian and Fedora keep Java's trust store.
    private static let javaPlaces = ["/etc/ssl/certs/java/cacerts", "/etc/pki/ca-trust/extracted/java/cacerts"]

    /// - Returns: an empty list if there is no file with CA certificates in the folder.
    static func trust(_ files: ClientFiles) -> [MountedFile] {
        let pairs = TrustAnchors.systemBundles.map { MountedFile(file: files.bundle, place: $0) }
        return (pairs + javaPlaces.map { MountedFile(file: files.openJavaStore, place: $0) }).filter { mount in
            access(mount.file, F_OK) == 0 && access(mount.place, F_OK) == 0
        }
    }
}
