import Foundation
import ServerTrust

extension POSIXTime {
    /// The time of this machine's clock.
    package static var now: POSIXTime { POSIXTime(seconds: Int64(Date().timeIntervalSince1970)) }
}
