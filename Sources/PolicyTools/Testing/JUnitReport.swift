import TextCoding

/// The results of a run of tests in JUnit's XML format, which programs for continuous integration read.
package enum JUnitReport {
    /// - Parameter file: the path of the settings file.
    package static func text(of run: PolicyTestRun, file: String) -> String {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text +=
            "<testsuites><testsuite name=\"\(XMLText.escaped(file))\" tests=\"\(run.outcomes.count)\" failures=\"\(run.failures.count)\">\n"
        for outcome in run.outcomes {
            let name = "line \(outcome.test.place.line): \(outcome.test.title)"
            text += "  <testcase classname=\"\(XMLText.escaped(file))\" name=\"\(XMLText.escaped(name))\""
            guard let failure = outcome.failure else {
                text += "/>\n"
                continue
            }
            text += "><failure message=\"\(XMLText.escaped(failure))\"/></testcase>\n"
        }
        return text + "</testsuite></testsuites>\n"
    }
}
