/// Listening sockets in a network namespace where every address is local, and the names to which its reserved addresses belong.
package struct TransparentSockets: Sendable {
    let sockets: [ListeningSocket]
    let names: ReservedNames

    package init(_ sockets: [ListeningSocket], names: ReservedNames) {
        self.sockets = sockets
        self.names = names
    }
}

/// All sockets on which the first loop accepts.
struct ServingSockets: Sendable {
    private let proxy: [ListeningSocket]
    private let transparent: TransparentSockets?

    init(proxy: [ListeningSocket] = [], transparent: TransparentSockets? = nil) {
        self.proxy = proxy
        self.transparent = transparent
    }

    var all: [(socket: ListeningSocket, clients: Listener.Clients)] {
        let ofProxy = proxy.enumerated().map { ($1, Listener.Clients.ofProxy(number: $0)) }
        guard let transparent else { return ofProxy }
        return ofProxy + transparent.sockets.map { ($0, .ofOrigins(transparent.names)) }
    }
}
