import HTTPMessage
import ProxyCore

/// Which finished requests to list. A condition that is `nil` or empty selects every request.
package struct TraceQuery: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// Requests that Larder refused: by rules, or because a client or its request is not accepted.
        case denied
        /// Requests that failed for another reason, and responses with a status of 500 or more.
        case error
    }

    /// A part of the URL, in lower case.
    private var text: [UInt8] = []
    /// A host, in lower case; its subdomains are selected too.
    private var host: [UInt8] = []
    private var method: [UInt8] = []
    package var statuses: ClosedRange<UInt16>?
    package var outcome: DecisionTrace.Outcome?
    package var kind: Kind?
    package var mode: ExchangeContext.Mode?

    package init() {}

    /// Selects requests whose URL contains the text, in either case.
    package mutating func setText(_ text: String) { self.text = text.utf8.map(ASCII.lowercased) }

    package mutating func setHost(_ host: String) { self.host = host.utf8.map(ASCII.lowercased) }

    package mutating func setMethod(_ method: String) { self.method = Array(method.utf8) }

    func selects(_ view: borrowing TraceView) -> Bool {
        let trace = view.record.trace
        if let statuses, !statuses.contains(trace.status) { return false }
        if let outcome, trace.outcome != outcome { return false }
        if let mode, view.record.mode != mode { return false }
        switch kind {
        case .denied: if !trace.isDenial { return false }
        case .error:
            if trace.isDenial || !(trace.outcome == .failed || trace.fault != nil || trace.status >= 500) { return false }
        case nil: break
        }
        if !method.isEmpty, !view.method.elementsEqual(method) { return false }
        if !host.isEmpty, !Self.isHost(host, of: view.host) { return false }
        return text.isEmpty || Self.contains(view.url, text)
    }

    private static func isHost(_ wanted: [UInt8], of host: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard host.count >= wanted.count else { return false }
        guard host.suffix(wanted.count).lazy.map(ASCII.lowercased).elementsEqual(wanted) else { return false }
        return host.count == wanted.count || host.dropLast(wanted.count).last == UInt8(ascii: ".")
    }

    /// - Parameter wanted: in lower case, not empty.
    private static func contains(_ text: Slice<UnsafeRawBufferPointer>, _ wanted: [UInt8]) -> Bool {
        guard text.count >= wanted.count else { return false }
        let bytes = UnsafeRawBufferPointer(rebasing: text)
        for start in 0...(bytes.count - wanted.count) where ASCII.lowercased(bytes[start]) == wanted[0] {
            var length = 1
            while length < wanted.count, ASCII.lowercased(bytes[start + length]) == wanted[length] { length += 1 }
            if length == wanted.count { return true }
        }
        return false
    }
}

extension DecisionTrace {
    /// Whether Larder refused the request.
    package var isDenial: Bool { outcome == .denied }
}
