/// One line that tells how far something is: pure, for a width and a style.
struct ProgressLine {
    /// What the terminal shows.
    struct Style {
        var isColoured = false
        /// Whether it knows more than ASCII.
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

    /// Its columns are at most `width`: first the bar gives way, then the label's front. What several have in columns stands below each other.
    /// - Parameter labelWidth: of the longest label that is shown beside it; `nil` for its own.
    static func bar(
        label: String, labelWidth: Int? = nil, done: UInt64, total: UInt64?, rate: Double?, note: String? = nil, width: Int,
        style: Style
    ) -> String {
        let facts = padded(facts(done: done, total: total, rate: rate, note: note)).joined(separator: "  ")
        let width = max(width, shortestWidth)
        // A bar of gray and green needs no frame; one of signs does, or nobody sees where it ends.
        let frame = style.isUnicode && style.isColoured ? 0 : 2
        let labelWidth = min(labelWidth ?? label.count, max(12, width / 3))
        let room = min(longestBar, width - labelWidth - max(facts.count, usualFactsWidth) - 4 - frame)
        guard room >= 5 else { return "\(cut(label, to: width - facts.count - 2))  \(facts)".clipped(to: width) }
        let label = cut(label, to: labelWidth)
        let shown = style.bold(label) + spaces(labelWidth - label.count)
        // How far it is nobody knows.
        guard let total else { return "\(shown)  \(spaces(room + frame))  \(facts)" }
        let share = total == 0 ? 1 : min(1, Double(done) / Double(total))
        let filled = Int(Double(room) * share)
        let bar =
            style.filled(filled) + (style.isUnicode && !style.isColoured ? spaces(room - filled) : style.open(room - filled))
        return "\(shown)  \(frame == 0 ? bar : "[\(bar)]")  \(facts)"
    }

    /// The same for a file of lines.
    static func plain(label: String, done: UInt64, total: UInt64?, rate: Double?, note: String? = nil) -> String {
        "\(label): \(facts(done: done, total: total, rate: rate, note: note).filter { !$0.isEmpty }.joined(separator: ", "))"
    }

    /// Share, bytes, rate and what is left; the first is empty where nobody knows it.
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

    /// `100 %`, `1023 of 1024 MiB`, `1023 MiB/s`, and some ten columns more.
    private static let factWidths = [5, 16, 10]
    private static let usualFactsWidth = 5 + 16 + 10 + 10 + 6

    private static func padded(_ facts: [String]) -> [String] {
        zip(facts, factWidths).map { spaces($1 - $0.count) + $0 } + facts.dropFirst(factWidths.count)
    }

    private static func percent(_ done: UInt64, _ total: UInt64) -> UInt64 {
        // All of it is there only when it is.
        total == 0 || done >= total ? 100 : min(99, UInt64(100 * Double(done) / Double(total)))
    }

    /// The end of a name tells more than its front.
    private static func cut(_ label: String, to width: Int) -> String {
        label.count <= width ? label : "…" + label.suffix(max(0, width - 1))
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}

extension String {
    fileprivate func clipped(to width: Int) -> String { String(prefix(width)) }
}
