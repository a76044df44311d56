import HTTPMessage
import ProxyPolicy

/// A set of requests to one host. The host's rules can distinguish these requests only by path.
struct RequestRegion {
    let scheme: RequestTarget.Scheme
    let port: UInt16
    let method: [UInt8]
}

/// Divides the requests to a host by scheme, port and method, so that the host's rules distinguish the requests in one part only by path.
struct RequestRegions {
    private(set) var schemes: [RequestTarget.Scheme] = [.https]
    /// The ranges of ports; the rules treat all ports of a range alike.
    private(set) var ports: [ClosedRange<UInt16>] = []
    private(set) var methods: [[UInt8]] = []

    init(of rules: [ComparedRule]) {
        var cuts: Set<Int> = [1]
        var named: Set<[UInt8]> = []
        for rule in rules {
            if !rule.condition.schemes.isEmpty { schemes = [.https, .http] }
            for range in rule.condition.ports {
                cuts.insert(Int(range.lowerBound))
                cuts.insert(Int(range.upperBound) + 1)
            }
            named.formUnion(rule.methods)
        }
        cuts.remove(65_536)
        let starts = cuts.sorted()
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : 65_536
            ports.append(UInt16(start)...UInt16(end - 1))
        }
        named.remove(Array("CONNECT".utf8))
        methods = named.sorted { $0.lexicographicallyPrecedes($1) }
        if let get = methods.firstIndex(of: Array("GET".utf8)) { methods.swapAt(0, get) }
        let other = Self.usual.first { !named.contains(Array($0.utf8)) }
        methods.append(Array((other ?? Self.unusual(besides: named)).utf8))
    }

    private static let usual = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]

    private static func unusual(besides named: Set<[UInt8]>) -> String {
        var number = 0
        while named.contains(Array("X-METHOD\(number)".utf8)) { number += 1 }
        return "X-METHOD\(number)"
    }

    /// An example port from the range: the scheme's default port if the range has it, because a URL may omit that port.
    static func port(in range: ClosedRange<UInt16>, of scheme: RequestTarget.Scheme) -> UInt16 {
        range.contains(scheme.defaultPort) ? scheme.defaultPort : range.lowerBound
    }

    var count: Int { schemes.count * ports.count * methods.count }

    var all: [RequestRegion] {
        var all: [RequestRegion] = []
        for method in methods {
            for range in ports {
                for scheme in schemes {
                    all.append(RequestRegion(scheme: scheme, port: Self.port(in: range, of: scheme), method: method))
                }
            }
        }
        return all
    }
}
