/// One metric: a name, and a value for each combination of its labels.
package struct MetricFamily: Sendable {
    package enum Kind: Sendable { case counter, gauge, info, histogram }

    package struct Sample: Sendable {
        package enum Value: Sendable {
            case count(UInt64)
            case number(Double)
            case durations(DurationHistogram)
        }

        package let labels: [(name: String, value: String)]
        package let value: Value
    }

    /// The name with its base unit, such as `larder_request_duration_seconds`, without the suffix `_total` of counters and `_info` of
    /// information.
    package let name: String
    package let kind: Kind
    /// The description for `# HELP`, one sentence.
    package let help: String
    package private(set) var samples: [Sample] = []

    package init(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
    }

    /// A family with one value and no labels.
    package init(_ name: String, _ kind: Kind, _ help: String, _ value: Sample.Value) {
        self.init(name, kind, help)
        add([], value)
    }

    package mutating func add(_ labels: [(name: String, value: String)], _ value: Sample.Value) {
        samples.append(Sample(labels: labels, value: value))
    }
}
