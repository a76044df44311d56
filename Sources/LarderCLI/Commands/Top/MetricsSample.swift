/// The metrics of a running Larder at one moment, as read from `/metrics` in Prometheus text.
struct MetricsSample {
    let at: ContinuousClock.Instant
    private var values: [Substring: Double] = [:]
    private var labelled: [Substring: [(labels: [String: String], value: Double)]] = [:]

    init(_ text: String, at: ContinuousClock.Instant) {
        self.at = at
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]), value.isFinite
            else { continue }
            let series = line[..<space]
            guard let brace = series.firstIndex(of: "{") else {
                values[series] = value
                continue
            }
            labelled[series[..<brace], default: []].append((Self.labels(series[brace...]), value))
        }
    }

    /// The value of a metric without labels; 0 if it is missing.
    func value(_ name: Substring) -> Double { values[name] ?? 0 }

    /// The sum of the values with these labels.
    func sum(_ name: Substring, _ labels: [String: String] = [:]) -> Double {
        (labelled[name] ?? []).reduce(0) { sum, series in
            labels.allSatisfy { series.labels[$0.key] == $0.value } ? sum + series.value : sum
        }
    }

    /// The sums by the value of one label.
    func sums(_ name: Substring, by label: String) -> [String: Double] {
        (labelled[name] ?? []).reduce(into: [:]) { sums, series in sums[series.labels[label] ?? "", default: 0] += series.value }
    }

    /// The cumulative counts of a histogram's buckets by their upper bound, in ascending order.
    func buckets(_ name: Substring, _ labels: [String: String] = [:]) -> [(bound: Double, count: Double)] {
        var counts: [Double: Double] = [:]
        for series in labelled[name + "_bucket"] ?? [] where labels.allSatisfy({ series.labels[$0.key] == $0.value }) {
            let bound = series.labels["le"].map { $0 == "+Inf" ? .infinity : Double($0) ?? .nan } ?? .nan
            counts[bound, default: 0] += series.value
        }
        return counts.filter { !$0.key.isNaN }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Reads `{name="value",…}`; a value has `\\`, `\"` and `\n` escaped.
    private static func labels(_ text: Substring) -> [String: String] {
        var labels: [String: String] = [:]
        var rest = text.dropFirst()
        while let equals = rest.firstIndex(of: "=") {
            let name = String(rest[..<equals])
            rest = rest[rest.index(after: equals)...].dropFirst()
            var value = ""
            while let character = rest.popFirst(), character != "\"" {
                guard character == "\\", let escaped = rest.popFirst() else {
                    value.append(character)
                    continue
                }
                value.append(escaped == "n" ? "\n" : escaped)
            }
            labels[name] = value
            if rest.first == "," { rest = rest.dropFirst() }
        }
        return labels
    }
}
