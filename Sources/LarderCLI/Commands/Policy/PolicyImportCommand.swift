import ArgumentParser
import CommandSupport
import PolicyTools
import TextCoding

extension PolicyCommand {
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: "Print the access rules of a squid.conf as settings.",
            discussion: """
                Standard error lists each directive that is not imported, or that has a different meaning in Larder, with its \
                line. The \
                command exits with 6 if there is such a directive. If two lines match the same request, squid uses the first one, \
                but in Larder a rule that denies wins.
                """)

        @Argument(help: "The squid.conf.")
        var file: String

        func run() throws {
            let bytes: [UInt8]
            do throws(LocalFile.Unreadable) {
                bytes = try LocalFile.bytes(at: file, atMost: PolicyToolLimits.importLength, mayBePipe: true)
            } catch {
                Terminal.talk("larder: cannot read \(printable(file, limit: 4096)): \(error.reason)\n")
                throw ExitCode.failure
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                Terminal.talk("larder: \(printable(file, limit: 4096)) is not UTF-8\n")
                throw ExitCode(2)
            }
            let imported = SquidImport(text)
            Terminal.output(imported.settings)
            for remark in imported.remarks {
                Terminal.talk("\(printable(file, limit: 4096)):\(remark.line): \(printable(remark.text, limit: 1000))\n")
            }
            if !imported.remarks.isEmpty { throw Code.differs }
        }
    }
}
