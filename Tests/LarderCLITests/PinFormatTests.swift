import CommandSupport
import Foundation
import ServerTrust
import TestSupport
import Testing

@testable import LarderCLI
@testable import LarderSettings
@testable import PinTools

@Suite("Pin formats of other programs")
struct PinFormatTests {
    private static let texts = ["LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", "XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM="]
    private static let now = POSIXTime(seconds: 1_780_272_000)

    private static func pins() throws -> [SHA256Digest] { try texts.map { try Pin("sha256/\($0)").publicKeyDigest } }
    private static func host(_ name: String, _ breadth: PinnedHost.Scope = .itself, port: UInt16? = nil) throws -> PinnedHost {
        PinnedHost(name: name, breadth: breadth, port: port, live: try pins())
    }

    private static func read(_ format: PinFormat, _ text: String) throws -> [PinnedHost] {
        var notes: [String] = []
        return try format.read(text, host: nil, notes: &notes)
    }

    @Test("What a format expresses is read back unchanged", arguments: PinFormat.allCases)
    func readsBack(format: PinFormat) throws {
        var hosts = [try Self.host("a.example")]
        if format != .curl { hosts.append(try Self.host("b.example", format == .json ? .below : .itselfAndBelow)) }
        if format == .okHTTP || format == .json { hosts.append(try Self.host("c.example", .oneLabelBelow)) }
        if format == .curl || format == .json { hosts.append(try Self.host("d.example", port: 8443)) }
        if [.trustKit, .hpkp, .json].contains(format) {
            hosts.append(try Self.host("e.example"))
            hosts[hosts.count - 1].isReportOnly = true
        }
        if [.androidNSC, .trustKit, .json].contains(format) {
            hosts.append(try Self.host("f.example"))
            hosts[hosts.count - 1].expires = CalendarDay("2027-12-31")
            hosts[hosts.count - 1].onExpiry = .reports
        }
        var notes: [String] = []
        let text = format.written(hosts, at: Self.now, notes: &notes)
        #expect(notes.isEmpty)
        #expect(try Self.read(format, text) == hosts)
    }

    @Test(
        "Each format is written as its program expects it",
        arguments: [
            (
                .androidNSC,
                """
                <?xml version="1.0" encoding="utf-8"?>
                <network-security-config>
                    <domain-config>
                        <domain includeSubdomains="false">a.example</domain>
                        <pin-set expiration="2028-01-01">
                            <pin digest="SHA-256">\(texts[0])</pin>
                            <pin digest="SHA-256">\(texts[1])</pin>
                        </pin-set>
                    </domain-config>
                </network-security-config>

                """
            ),
            (
                .okHTTP,
                """
                val certificatePinner = CertificatePinner.Builder()
                    .add("a.example", "sha256/\(texts[0])", "sha256/\(texts[1])")
                    .build()

                """
            ),
            (.curl, "curl --pinnedpubkey 'sha256//\(texts[0]);sha256//\(texts[1])' https://a.example/\n"),
            (
                .hpkp,
                """
                # a.example
                Public-Key-Pins: pin-sha256="\(texts[0])"; pin-sha256="\(texts[1])"; max-age=50025599

                """
            ),
        ] as [(PinFormat, String)])
    func writes(format: PinFormat, expected: String) throws {
        var host = try Self.host("a.example")
        host.expires = CalendarDay("2027-12-31")
        host.onExpiry = .reports
        var notes: [String] = []
        #expect(format.written([host], at: Self.now, notes: &notes) == expected)
    }

    @Test("What a format cannot express is reported, and never written as something weaker")
    func tellsWhatIsLost() throws {
        var reported = try Self.host("reported.example")
        reported.isReportOnly = true
        var ending = try Self.host("ending.example")
        ending.expires = CalendarDay("2027-12-31")
        let hosts = try [reported, ending, Self.host("port.example", port: 8443), Self.host("wide.example", .below)]
        var notes: [String] = []
        let text = PinFormat.androidNSC.written(hosts, at: Self.now, notes: &notes)
        #expect(
            notes == [
                "reported.example is left out: the format has no report-only pins",
                "ending.example is written without its expiry, because pins in this format have no effect after their expiry",
                "port.example:8443 is left out: the format has no ports",
                "in this format, the pins of *.wide.example also apply to wide.example",
            ])
        #expect(!text.contains("reported.example") && !text.contains("port.example") && !text.contains("expiration"))
        notes = []
        #expect(PinFormat.curl.written([try Self.host("a.example", .below)], at: Self.now, notes: &notes).isEmpty)
        #expect(notes == ["*.a.example is left out: the format has no patterns"])
    }

    @Test("A host and everything below it with the same pins become one entry if the format supports that")
    func joins() throws {
        var notes: [String] = []
        let text = PinFormat.okHTTP.written(
            [try Self.host("a.example"), try Self.host("a.example", .below)], at: Self.now, notes: &notes)
        #expect(notes.isEmpty)
        #expect(text.components(separatedBy: ".add(").count == 2)
        #expect(text.contains("\"**.a.example\""))
    }

    @Test(
        "Typical files are read",
        arguments: [
            (
                .androidNSC,
                "<?xml version='1.0'?>\n<!-- ours --><network-security-config><base-config/><domain-config><trust-anchors/>"
                    + "<domain includeSubdomains=\"true\">a.example</domain><pin-set><!-- live -->"
                    + "<pin digest=\"SHA-256\">\n  \(texts[0])</pin></pin-set></domain-config></network-security-config>"
            ),
            (
                .okHTTP,
                "new CertificatePinner.Builder()\n  .add(\"**.a.example\",\n    \"sha256/\(texts[0])\")\n  .build();"
            ),
            (
                .hpkp,
                "# a.example\npublic-key-pins:pin-sha256=\"\(texts[0])\";max-age=1 ; includeSubdomains; report-uri=\"https://r\""
            ),
            (
                .trustKit,
                "<plist version=\"1.0\"><dict><key>TSKConfiguration</key><dict><key>TSKPinnedDomains</key><dict><key>a.example</key>"
                    + "<dict><key>TSKIncludeSubdomains</key><true/><key>TSKPublicKeyHashes</key><array><string>\(texts[0])</string>"
                    + "</array></dict></dict></dict></dict></plist>"
            ),
        ] as [(PinFormat, String)])
    func readsOthers(format: PinFormat, text: String) throws {
        let hosts = try Self.read(format, text)
        #expect(hosts == [PinnedHost(name: "a.example", breadth: .itselfAndBelow, live: [try Self.pins()[0]])])
    }

    @Test(
        "An unreadable file is refused as a whole, with the reason",
        arguments: [
            (.androidNSC, "", "this is not a <network-security-config>"),
            (.androidNSC, "<a>", "this is not a <network-security-config>"),
            (
                .androidNSC,
                "<network-security-config><domain-config><domain>a.example</domain><pin-set><pin digest=\"SHA-1\">A</pin></pin-set>"
                    + "</domain-config></network-security-config>", "a pin's digest is not SHA-256"
            ),
            (.androidNSC, "<network-security-config/>", "the file contains no pins"),
            (.trustKit, "{", "this is not a property list with a dictionary at its root"),
            (.okHTTP, "", "the file contains no pins"),
            (.okHTTP, ".add(\"a.example\", pin)", "an argument of `add` is not a string"),
            (.okHTTP, ".add(\"a.example\", \"sha1/AAAA\")", "a pin of a.example does not start with sha256/"),
            (.okHTTP, ".add(\"a.example\", \"sha256/AAAA\")", "`AAAA` is not the base64 of a SHA-256 digest"),
            (.okHTTP, ".add(\"a.example\")", "a.example has no pins"),
            (.okHTTP, ".add(\"*a\", \"sha256/\(texts[0])\")", "`*a` is not a host"),
            (.curl, "curl --pinnedpubkey key.pem https://a.example/", "a pin of a.example does not start with sha256//"),
            (.curl, "curl --pinnedpubkey sha256//\(texts[0])", "a command has no https URL"),
            (.hpkp, "Public-Key-Pins: max-age=1", "the file does not name its host: use --host"),
            (.hpkp, "# a.example\nPublic-Key-Pins: max-age=1", "a.example has no pins"),
            (.hpkp, "x", "a line is not a Public-Key-Pins field"),
            (.json, "{}", "the file is not JSON in the format of `larder pins export --format json`"),
            (
                .json, "{\"hosts\": [{\"host\": \"a.example\", \"pins\": [\"\(texts[0])\"]}]}",
                "a pin of a.example does not start with sha256/"
            ),
        ] as [(PinFormat, String, String)])
    func refuses(format: PinFormat, text: String, reason: String) {
        #expect(throws: PinFormatError(reason)) { try Self.read(format, text) }
    }

    @Test("The subcommands print the pins, and import them again")
    func runs() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tls:\n  default: deny\n  hosts:\n    \"*.a.example\": {pins: {of: sha256/\(Self.texts[0]), backup: sha256/\(Self.texts[1])}}\n",
            to: "larder.yaml")
        let outcome = try CommandLineTests.shell(
            "$larder pins export -c \(file) --format json | $larder pins import --format json -", [:])
        #expect(outcome.code == 0)
        #expect(
            outcome.output == """
                "*.a.example":
                  pins:
                    of: ["sha256/\(Self.texts[0])"]
                    backup: ["sha256/\(Self.texts[1])"]

                """, "\(outcome)")
        let noted = try CommandLineTests.larder("pins", "export", "-c", file, "--format", "android-nsc")
        #expect(noted.code == 0 && noted.talk == "larder: in this format, the pins of *.a.example also apply to a.example\n")
        let refused = try CommandLineTests.larder("pins", "import", "--format", "hpkp", file)
        #expect(refused.code == 2 && refused.talk == "larder: \(file): a line is not a Public-Key-Pins field\n")
    }

    @Test("All certificates of a folder are pinned, or none")
    func readsFolders() throws {
        let folder = try TemporaryFolder()
        for label in ["leaf", "middle"] {
            try Data(TrustVectors.der(label)).write(to: URL(filePath: "\(folder.path)/\(label).cer"))
        }
        _ = try folder.write("nothing", to: "README")
        let digests = try ["leaf", "middle"].map { try #require(Certificate(der: TrustVectors.der($0))).publicKeyDigest }
        let pinned = try CertificateFolder.read(folder.path, host: "*.a.example")
        #expect(pinned == PinnedHost(name: "a.example", breadth: .below, live: digests))
        #expect(try CertificateFolder.read(folder.path, host: "[::1]").name == "::1")
        #expect(throws: PinFormatError("`a b` is not a host")) { try CertificateFolder.read(folder.path, host: "a b") }
        _ = try folder.write("damaged", to: "other.cer")
        #expect(throws: PinFormatError("other.cer contains no readable certificate")) {
            try CertificateFolder.read(folder.path, host: "a.example")
        }
        #expect(try CommandLineTests.larder("pins", "import", folder.path).code == 2)
    }

    @Test("Imported pins are read as settings of the same hosts")
    func becomesSettings() throws {
        var hosts = try [
            Self.host("a.example", .itselfAndBelow), Self.host("b.example", .oneLabelBelow), Self.host("c.example", port: 8443),
            Self.host("2001:db8::1", port: 8443),
        ]
        hosts[2].backup = [hosts[2].live.removeLast()]
        hosts[2].expires = CalendarDay("2027-12-31")
        hosts[2].isReportOnly = true
        let yaml = PinnedHost.settings(hosts).split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        let entries = try settings("tls:\n  hosts:\n\(yaml)\n").tls.hosts.entries
        #expect(entries.map(\.name) == ["a.example", "*.a.example", "*.b.example", "c.example:8443", "[2001:db8::1]:8443"])
        #expect(entries.map(\.terms.pins?.live.count) == [2, 2, 2, 1, 2])
        #expect(entries[2].terms.labels == .one)
        #expect(entries[3].terms.pins?.backup.count == 1)
        #expect(entries[3].terms.pins?.expires == CalendarDay("2027-12-31"))
        #expect(entries[3].terms.pins?.isReportOnly == true)
    }
}
