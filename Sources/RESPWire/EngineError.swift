/// An error reply of an engine: its code, the first word, and its text.
package struct EngineError: Error, Equatable, Sendable {
    package enum Code: String, CaseIterable, Sendable {
        case moved = "MOVED"
        case ask = "ASK"
        case tryAgain = "TRYAGAIN"
        case clusterDown = "CLUSTERDOWN"
        case crossSlot = "CROSSSLOT"
        case loading = "LOADING"
        case masterDown = "MASTERDOWN"
        case readOnly = "READONLY"
        /// The engine has reached `maxmemory` and evicts nothing.
        case outOfMemory = "OOM"
        case misconfigured = "MISCONF"
        case noAuthentication = "NOAUTH"
        case wrongPassword = "WRONGPASS"
        case noPermission = "NOPERM"
        case noReplicas = "NOREPLICAS"
        case wrongType = "WRONGTYPE"
        case busy = "BUSY"
        case noProtocol = "NOPROTO"
        case other = "ERR"
    }

    package let code: Code
    /// The text after the code. An engine can put any bytes into it, so it is escaped before it is logged.
    package let text: String

    package init(_ line: [UInt8]) {
        let line = line.prefix(Self.textLimit)
        let word = line.prefix { $0 != UInt8(ascii: " ") }
        code = Code(rawValue: String(decoding: word, as: UTF8.self)) ?? .other
        text = String(decoding: code == .other ? line : line.dropFirst(word.count + 1), as: UTF8.self)
    }

    private static let textLimit = 512

    /// The node to which the command is to be sent; `nil` for other errors, or a malformed one.
    package var redirection: Redirection? {
        guard code == .moved || code == .ask else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let slot = UInt16(words[0]), slot < HashSlot.count,
            let colon = words[1].lastIndex(of: ":"), let port = UInt16(words[1][words[1].index(after: colon)...]), port > 0
        else { return nil }
        return Redirection(
            slot: slot, node: EngineAddress(host: String(words[1][..<colon]), port: port), isForOneCommand: code == .ask)
    }
}

/// Where a cluster sends a client that asked the wrong node.
package struct Redirection: Equatable, Sendable {
    package let slot: UInt16
    /// The host is empty if it is the host of the node that was asked.
    package let node: EngineAddress
    /// Whether only this command goes there, after ASKING, because the slot is being moved.
    package let isForOneCommand: Bool

    package init(slot: UInt16, node: EngineAddress, isForOneCommand: Bool) {
        self.slot = slot
        self.node = node
        self.isForOneCommand = isForOneCommand
    }
}

/// The address of an engine.
package struct EngineAddress: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
