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
    /// For each place in `text`: the length of the longest beginning of `text` that ends there, and is shorter than the part up to there.
    private var borders: [Int] = []
    /// A host, in lower case; its subdomains are selected too.
    private var host: [UInt8] = []
    private var method: [UInt8] = []
    package var statuses: ClosedRange<UInt16>?
    package var outcome: DecisionTrace.Outcome?
    package var kind: Kind?
    package var mode: ExchangeContext.Mode?

    package init() {}

    /// Selects requests whose URL contains the text, in either case.
    package mutating func setText(_ text: String) {
        self.text = text.utf8.map(ASCII.lowercased)
        borders = Self.borders(of: self.text)
    }

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
        return text.isEmpty || isContained(in: view.url)
    }

    private static func isHost(_ wanted: [UInt8], of host: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard host.count >= wanted.count else { return false }
        guard host.suffix(wanted.count).lazy.map(ASCII.lowercased).elementsEqual(wanted) else { return false }
        return host.count == wanted.count || host.dropLast(wanted.count).last == UInt8(ascii: ".")
    }

    private static func borders(of text: [UInt8]) -> [Int] {
        var borders = [Int](repeating: 0, count: text.count)
        var length = 0
        for index in text.indices.dropFirst() {
            while length > 0, text[index] != text[length] { length = borders[length - 1] }
            if text[index] == text[length] { length += 1 }
            borders[index] = length
        }
        return borders
    }

    /// Searches by Knuth, Morris and Pratt: the loop reads each byte of the URL once, whatever the text and the URL repeat.
    private func isContained(in url: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard url.count >= text.count else { return false }
        var length = 0
        for byte in UnsafeRawBufferPointer(rebasing: url) {
            let byte = ASCII.lowercased(byte)
            while length > 0, byte != text[length] { length = borders[length - 1] }
            if byte == text[length] { length += 1 }
            if length == text.count { return true }
        }
        return false
    }
}

extension DecisionTrace {
    /// Whether Larder refused the request.
    package var isDenial: Bool { outcome == .denied }
}
