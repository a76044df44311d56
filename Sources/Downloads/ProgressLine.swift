import CommandSupport

/// Formats one line of progress, for a width and a style.
struct ProgressLine {
    /// The terminal's capabilities.
    struct Style {
        var isColoured = false
        /// Whether the terminal supports Unicode.
        var isUnicode = false

        func filled(_ count: Int) -> String { styled(String(repeating: isUnicode ? "━" : "#", count: count), "32") }
        func open(_ count: Int) -> String {
            styled(String(repeating: isUnicode ? "━" : "-", count: count), isUnicode ? "90" : "2")
        }
        func bold(_ text: String) -> String { styled(text, "1") }

        private func styled(_ text: String, _ code: String) -> String {
            isColoured && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
        }
    }

    static let shortestWidth = 20
    private static let longestBar = 40

    /// A line of progress, at most `width` columns wide: the bar is dropped first, then the label's front. The columns of several lines are
    /// aligned.
    /// - Parameter labelWidth: the length of the longest label; `nil` for its own length.
    static func bar(
        label: String, labelWidth: Int? = nil, done: UInt64, total: UInt64?, rate: Double?, note: String? = nil, width: Int,
        style: Style
    ) -> String {
        let facts = padded(facts(done: done, total: total, rate: rate, note: note)).joined(separator: "  ")
        let width = max(width, shortestWidth)
        // Colors show where a bar ends; a bar of characters needs a frame.
        let frame = style.isUnicode && style.isColoured ? 0 : 2
        let labelWidth = min(labelWidth ?? label.count, max(12, width / 3))
        let room = min(longestBar, width - labelWidth - max(facts.count, usualFactsWidth) - 4 - frame)
        guard room >= 5 else { return "\(cut(label, to: width - facts.count - 2))  \(facts)".clipped(to: width) }
        let label = cut(label, to: labelWidth)
        let shown = style.bold(label) + spaces(labelWidth - label.count)
        // The total is unknown, so there is no bar.
        guard let total else { return "\(shown)  \(spaces(room + frame))  \(facts)" }
        let share = total == 0 ? 1 : min(1, Double(done) / Double(total))
        let filled = Int(Double(room) * share)
        let bar =
            style.filled(filled) + (style.isUnicode && !style.isColoured ? spaces(room - filled) : style.open(room - filled))
        return "\(shown)  \(frame == 0 ? bar : "[\(bar)]")  \(facts)"
    }

    /// The progress as a plain line, for an output that is not a terminal.
    static func plain(label: String, done: UInt64, total: UInt64?, rate: Double?, note: String? = nil) -> String {
        "\(label): \(facts(done: done, total: total, rate: rate, note: note).filter { !$0.isEmpty }.joined(separator: ", "))"
    }

    /// Percentage, bytes, rate and remaining time; the percentage is empty if the total is unknown.
    private static func facts(done: UInt64, total: UInt64?, rate: Double?, note: String?) -> [String] {
        var facts = [
            total.map { "\(percent(done, $0)) %" } ?? "", total.map { Quantity.text(done, of: $0) } ?? Quantity.text(done),
        ]
        if let note {
            facts.append(note)
        } else if let rate {
            facts.append(Quantity.rate(rate))
            if let total, rate > 1, total >= done {
                facts.append("\(Quantity.wholeTime(Int64((Double(total - done) / rate).rounded(.up)))) left")
            }
        }
        return facts
    }

    /// The widths in columns of `100 %`, `1023 of 1024 MiB` and `1023 MiB/s`. The remaining time after them needs about ten columns more.
    private static let factWidths = [5, 16, 10]
    private static let usualFactsWidth = 5 + 16 + 10 + 10 + 6

    private static func padded(_ facts: [String]) -> [String] {
        zip(facts, factWidths).map { spaces($1 - $0.count) + $0 } + facts.dropFirst(factWidths.count)
    }

    private static func percent(_ done: UInt64, _ total: UInt64) -> UInt64 {
        // `100 %` is shown only when the file is complete.
        total == 0 || done >= total ? 100 : min(99, UInt64(100 * Double(done) / Double(total)))
    }

    /// A long label loses its start, because the end of a file name is more informative.
    private static func cut(_ label: String, to width: Int) -> String {
        label.count <= width ? label : "…" + label.suffix(max(0, width - 1))
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}

extension String {
    fileprivate func clipped(to width: Int) -> String { String(prefix(width)) }
}
