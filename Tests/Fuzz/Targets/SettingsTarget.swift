import LarderSettings
import ProxyPolicy

extension FuzzTarget {
    /// Any text is a settings file that is refused with problems that stand in it, or one whose settings, printed, are read as
    /// the same.
    package static let settings = FuzzTarget("Settings") { octets in
        let text = String(decoding: octets, as: UTF8.self)
        switch read(text) {
        case .problems(let problems): return fault(of: problems, in: text)
        case .settings(let settings): return fault(of: settings)
        }
    }

    private static func read(_ text: String) -> SettingsReader.Outcome {
        do throws(SettingsProblems) {
            return SettingsReader.read([SettingsLayer(name: "f", root: try YAMLReader.read(text))])
        } catch {
            return .problems(error.all.map { LocatedProblem(source: "f", problem: $0) })
        }
    }

    private static func fault(of problems: [LocatedProblem], in text: String) -> String? {
        if problems.isEmpty { return "refused without a reason" }
        let lengths = lineLengths(of: text)
        for problem in problems {
            let message = problem.description
            if message.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "a message holds a control" }
            let place = problem.problem.place
            guard lengths.indices.contains(place.line - 1) else { return "a problem in line \(place.line): \(message)" }
            guard 1...lengths[place.line - 1] + 1 ~= place.column else {
                return "a problem in column \(place.column): \(message)"
            }
        }
        return nil
    }

    /// How many bytes each line has, where YAML 1.1 ends lines.
    private static func lineLengths(of text: String) -> [Int] {
        var lengths = [0]
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where previous == "\r": break
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": lengths.append(0)
            default: lengths[lengths.count - 1] += UTF8.width(scalar)
            }
            previous = scalar
        }
        return lengths
    }

    private static func fault(of settings: LarderSettings) -> String? {
        let written = YAMLWriter.write(settings)
        guard case .settings(let again) = read(written) else { return "what was printed is refused" }
        if YAMLWriter.write(again) != written { return "what was printed is printed as another" }
        return comparable(settings) == comparable(again) ? nil : "what was printed is read as another"
    }

    /// Without what is printed with its secrets left out, and places of rules in the text.
    private static func comparable(_ settings: LarderSettings) -> LarderSettings {
        var settings = settings
        settings.rules = LarderSettings().rules
        settings.upstream.proxy = settings.upstream.proxy.map { _ in "given" }
        return settings
    }
}
