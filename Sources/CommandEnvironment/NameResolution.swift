import HTTPMessage
import ProxyServer

/// The result of resolving a name, for `NameAnswer`.
enum NameResolution {
    /// Four bytes, and 16 bytes or none: names have no IPv6 address in a namespace without IPv6.
    case addresses(ipv4: [UInt8], ipv6: [UInt8]?)
    /// The name does not exist.
    case none
    /// No answer is possible.
    case refused

    init(_ resolution: ReservedNames.Resolution, hasIPv6: Bool) {
        switch resolution {
        case .addresses(let ipv4, let ipv6):
            let long = [ipv6.high, ipv6.low].flatMap { half in
                stride(from: 56, through: 0, by: -8).map { UInt8(half >> $0 & 0xFF) }
            }
            let short = stride(from: 24, through: 0, by: -8).map { UInt8(ipv4.low >> $0 & 0xFF) }
            self = .addresses(ipv4: short, ipv6: hasIPv6 ? long : nil)
        case .denied: self = .none
        case .full: self = .refused
        }
    }
}
