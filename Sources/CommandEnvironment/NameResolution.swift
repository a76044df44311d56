import HTTPMessage
import ProxyServer

/// The result of resolving a name, for `NameAnswer`.
enum NameResolution {
    /// An IPv4 address of four bytes, and an IPv6 address of 16 bytes. In a namespace without IPv6, `ipv6` is `nil`.
    case addresses(ipv4: [UInt8], ipv6: [UInt8]?)
    /// The name does not exist.
    case none
    /// The limit on the number of names is reached, so the name gets no address.
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
