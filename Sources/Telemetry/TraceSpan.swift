import HTTPMessage

/// One step of a distributed trace, as OpenTelemetry defines it.
package struct TraceSpan: Sendable {
    package enum Kind: Int, Sendable {
        case server = 2
        case client = 3
    }

    package enum Value: Sendable {
        case text(String)
        case number(Int)
        case flag(Bool)
    }

    package var traceHigh: UInt64
    package var traceLow: UInt64
    package var id: UInt64
    /// `nil` for the first span of a trace.
    package var parent: UInt64?
    package var name: String
    package var kind: Kind
    /// In nanoseconds since 1970.
    package var start: UInt64
    package var end: UInt64
    /// The names are from OpenTelemetry's semantic conventions for HTTP; the names of Larder's own attributes begin with `larder.`.
    package var attributes: [(name: String, value: Value)]
    package var isError: Bool

    package init(
        traceHigh: UInt64, traceLow: UInt64, id: UInt64, parent: UInt64?, name: String, kind: Kind, start: UInt64, end: UInt64,
        attributes: [(name: String, value: Value)], isError: Bool
    ) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.id = id
        self.parent = parent
        self.name = name
        self.kind = kind
        self.start = start
        self.end = end
        self.attributes = attributes
        self.isError = isError
    }
}

/// A message of Larder's own log.
package struct LogMessage: Sendable {
    /// The severity number of OpenTelemetry: 9 for info, 13 for warning, 17 for error.
    package let severity: Int
    package let level: String
    package let text: String
    /// In nanoseconds since 1970.
    package let time: UInt64

    package init(severity: Int, level: String, text: String, time: UInt64) {
        self.severity = severity
        self.level = level
        self.text = text
        self.time = time
    }
}
