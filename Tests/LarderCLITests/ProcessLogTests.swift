import Logging
import Testing

@testable import LarderCLI
@testable import LarderSettings

@Suite("Larder's own log")
struct ProcessLogTests {
    @Test("Every level of the settings is a level of the logger", arguments: LarderSettings.LogLevel.allCases)
    func knowsLevels(level: LarderSettings.LogLevel) {
        #expect(ProcessLog(level: level).logger.logLevel.rawValue == level.rawValue)
    }

    @Test("A new level reaches every copy of the logger")
    func changesLevels() {
        let log = ProcessLog(level: .info)
        let copy = log.logger
        log.setLevel(.error)
        #expect(copy.logLevel == .error)
    }

    @Test("A message is one line without characters that a terminal interprets (T43)")
    func writesOneLine() {
        let log = StandardErrorLog(threshold: LogThreshold(.info))
        #expect(log.line(.notice, "ready") == "larder: ready\n")
        #expect(log.line(.warning, "a\r\nb\u{1B}[31m") == "larder: warning: a\u{FFFD}\u{FFFD}b\u{FFFD}[31m\n")
    }
}
