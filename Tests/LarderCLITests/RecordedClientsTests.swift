import Testing

@Suite("Real clients, recorded and replayed")
struct RecordedClientsTests {
    @Test(
        "curl, both protocols of git and a Python script get the same responses without the origin, plain and intercepted"
    )
    func areAnsweredTheSame() throws {
        let outcome = try LongScripts.runShort("replay-clients.sh")
        if outcome.output.hasPrefix("left out: it needs") { return }
        #expect(outcome.code == 0 && outcome.output.contains("ok      script, intercepted, replayed"), "\(outcome)")
    }

    @Test(
        """
        No file contains any of 40 planted secrets; a near miss is named, and the proposed rule makes it match; a kill loses \
        nothing
        """)
    func withstand() throws {
        let outcome = try LongScripts.runShort("recordings.sh")
        if outcome.output.hasPrefix("left out: it needs") { return }
        #expect(outcome.code == 0 && outcome.output.contains("ok      none of them stands in any of "), "\(outcome)")
    }
}
