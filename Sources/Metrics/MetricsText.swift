/// The formats in which Prometheus reads metrics.
package enum MetricsFormat: Sendable {
    /// Prometheus text 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.0: counters are named without `_total` in their `# TYPE`, and `# EOF` is the last line.
    case openMetrics

    package var contentType: StaticString {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Families without samples are left out.
    package func text(of families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty { write(family, to: &text) }
        if self == .openMetrics { text += "# EOF\n" }
        return text
    }

    private func write(_ family: MetricFamily, to text: inout String) {
        let sampleName = family.name + Self.suffix(of: family.kind)
        // In Prometheus text, the name after `# TYPE` is the name of the samples, and metrics with information have no type of their own.
        let name = self == .openMetrics ? family.name : sampleName
        text += "# HELP \(name) \(Self.escaped(family.help, quotes: false))\n# TYPE \(name) \(typeName(family.kind))\n"
        for sample in family.samples {
            switch sample.value {
            case .count(let count): text += "\(sampleName)\(Self.labels(sample.labels)) \(count)\n"
            case .number(let number): text += "\(sampleName)\(Self.labels(sample.labels)) \(Self.number(number))\n"
            case .durations(let histogram): write(histogram, family.name, sample.labels, to: &text)
            }
        }
    }

    private func write(
        _ histogram: DurationHistogram, _ name: String, _ labels: [(name: String, value: String)], to text: inout String
    ) {
        for (bound, count) in zip(DurationHistogram.bounds, histogram.cumulativeCounts) {
            text += "\(name)_bucket\(Self.labels(labels + [("le", Self.number(Double(bound) / 1e6))])) \(count)\n"
        }
        text += "\(name)_bucket\(Self.labels(labels + [("le", "+Inf")])) \(histogram.count)\n"
        text += "\(name)_sum\(Self.labels(labels)) \(Self.number(Double(histogram.sumMicroseconds) / 1e6))\n"
        text += "\(name)_count\(Self.labels(labels)) \(histogram.count)\n"
    }

    private static func suffix(of kind: MetricFamily.Kind) -> String {
        switch kind {
        case .counter: "_total"
        case .info: "_info"
        case .gauge, .histogram: ""
        }
    }

    private func typeName(_ kind: MetricFamily.Kind) -> String {
        switch kind {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        case .info: self == .openMetrics ? "info" : "gauge"
        }
    }

    private static func labels(_ labels: [(name: String, value: String)]) -> String {
        if labels.isEmpty { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",") + "}"
    }

    /// Escapes `\`, line feeds, and in labels `"`.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    /// The number as text; a whole number is written without a fraction.
    private static func number(_ number: Double) -> String {
        if number == number.rounded(), abs(number) < 1e15 { return "\(Int64(number))" }
        return "\(number)"
    }
}
