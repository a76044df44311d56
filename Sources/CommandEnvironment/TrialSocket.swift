import CLarderLinux
import Foundation
import LarderSettings

/// A plain blocking connection with a timeout.
package enum TrialSocket {
    private static let patience = timeval(tv_sec: 10, tv_usec: 0)

    /// - Returns: a descriptor that the caller owns; `nil` leaves the reason in `errno`.
    package static func connect(to address: ListenAddress) -> Int32? {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = larder_sock_stream
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo("\(address.address)", "\(address.port)", &hints, &found) == 0, let entry = found?.pointee else {
            return nil
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(entry.ai_family, entry.ai_socktype | larder_sock_cloexec, 0)
        guard descriptor >= 0 else { return nil }
        var patience = patience
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        guard Foundation.connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        return descriptor
    }
}
