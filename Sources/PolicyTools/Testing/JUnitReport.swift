/// A run of tests in the XML of JUnit, which programs for continuous integration read.
package enum JUnitReport {
    /// - Parameter file: the settings file.
    package static func text(of run: PolicyTestRun, file: String) -> String {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text +=
            "<testsuites><testsuite name=\"\(escaped(file))\" tests=\"\(run.outcomes.count)\" failures=\"\(run.failures.count)\">\n"
        for outcome in run.outcomes {
            let name = "line \(outcome.test.place.line): \(outcome.test.title)"
            text += "  <testcase classname=\"\(escaped(file))\" name=\"\(escaped(name))\""
            guard let failure = outcome.failure else {
                text += "/>\n"
                continue
            }
            text += "><failure message=\"\(escaped(failure))\"/></testcase>\n"
        }
        return text + "</testsuite></testsuites>\n"
    }

    /// Characters that XML 1.0 does not allow become U+FFFD.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case _ where scalar.value < 0x20 || (0xFFFE...0xFFFF).contains(scalar.value): result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
