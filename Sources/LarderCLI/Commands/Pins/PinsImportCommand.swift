import ArgumentParser
import CommandSupport
import LarderSettings
import PinTools
import TextCoding

extension PinsCommand {
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: "Print the pins of another program as a file for tls.pins_from.",
            discussion: "Without --format, this command reads a folder of .cer certificates for the host in --host.")

        @Option(name: [.short, .long], help: "The format: android-nsc, trustkit, okhttp, curl, hpkp or json.")
        var format: PinFormat?

        @Option(
            help: ArgumentHelp(
                "The host, if the input does not name it (the format hpkp, or a folder of certificates).", valueName: "host"))
        var host: String?

        @Argument(help: ArgumentHelp("The file or folder; - is standard input.", valueName: "file"))
        var file: String

        func validate() throws {
            if format == nil, host == nil { throw ValidationError("Give --format, or --host for a folder of certificates.") }
        }

        func run() throws {
            do {
                var notes: [String] = []
                let hosts = try hosts(notes: &notes)
                for note in notes { Terminal.talk("larder: \(printable(note, limit: 4096))\n") }
                Terminal.output(PinnedHost.settings(hosts))
            } catch let fault as PinFormatError {
                throw failure(fault.reason, code: ExitCode(2))
            } catch let fault as LocalFile.Unreadable {
                throw failure(fault.reason, code: .failure)
            }
        }

        private func hosts(notes: inout [String]) throws -> [PinnedHost] {
            guard let format else { return [try CertificateFolder.read(file, host: host ?? "")] }
            let octets = try LocalFile.bytes(
                at: file == "-" ? "/dev/stdin" : file, atMost: TrustFiles.pinFileLimit, mayBePipe: true)
            guard let text = String(validating: octets, as: UTF8.self) else { throw PinFormatError("the file is not UTF-8") }
            return try format.read(text, host: host, notes: &notes)
        }

        private func failure(_ reason: String, code: ExitCode) -> ExitCode {
            Terminal.talk("larder: \(printable(file, limit: 4096)): \(printable(reason, limit: 4096))\n")
            return code
        }
    }
}
