import Testing

@Suite("Real clients under rules with operations")
struct OperationClientsTests {
    @Test(
        """
        git clones, fetches and pushes what an operation of one repository allows, and gets 403 for the rest; pip installs, and no upload reaches \
        the server
        """)
    func areHeldToTheirOperation() throws {
        let outcome = try LongScripts.runShort("operations.sh")
        if outcome.output.hasPrefix("left out: it needs") { return }
        #expect(
            outcome.code == 0 && outcome.output.contains("ok      git") && outcome.output.contains("ok      pip"), "\(outcome)")
    }
}
