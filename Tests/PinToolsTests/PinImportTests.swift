import ServerTrust
import TestSupport
import Testing

@testable import LarderSettings
@testable import PinTools

@Suite("Imports of typical pin files")
struct PinImportTests {
    private static let a = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    private static let b = "XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM="
    private static let set = "<pin-set><pin digest='SHA-256'>\(a)</pin></pin-set>"

    private static func android(_ text: String) -> String { "<network-security-config>\(text)</network-security-config>" }
    private static func curl(_ rest: String, _ pin: String = a) -> String { "curl --pinnedpubkey 'sha256//\(pin)' \(rest)\n" }
    private static func field(_ rest: String) -> String { "Public-Key-Pins: pin-sha256=\"\(a)\"; \(rest)\n" }
    private static func json(_ host: String, _ rest: String = "") -> String {
        "{\"hosts\": [{\"host\": \"\(host)\", \"pins\": [\"sha256/\(a)\"]\(rest)}]}"
    }

    @Test(
        "Every host is found, and the printed settings are valid",
        arguments: [
            (.curl, curl("https://a.example/ https://b.example:8443/x"), ["a.example", "b.example:8443"], []),
            (
                .curl, "curl --pinnedpubkey sha256//\(a) https://a.example; " + curl("https://b.example", b),
                ["a.example", "b.example"], []
            ),
            (
                .curl, curl("https://a.example/1 --next --pinnedpubkey sha256//\(b) https://b.example"),
                ["a.example", "b.example"], []
            ),
            (
                .curl, curl("-sx https://p.example -ehttps://q.example --referer https://r.example https://a.example"),
                ["a.example"], []
            ),
            (.curl, "# " + curl("https://b.example") + curl("\\\n  \"https://a.example/\" > out"), ["a.example"], []),
            (.curl, curl("https://a.example/1") + curl("https://A.example/2"), ["a.example"], []),
            (.curl, curl("https://[::1]:8443/"), ["[::1]:8443"], []),
            (
                .okHTTP, ".add (\"a.example\", /* leaf (2026) */ \"sha256/\(a)\")\n// .add(\"old.example\", \"sha256/\(a)\")\n",
                ["a.example"], []
            ),
            (
                .okHTTP,
                ".add(\"**.a.example\", \"sha256/\(a)\").add(\"a.example\", \"sha256/\(b)\").add(\"a.example\", \"sha256/\(a)\",)",
                ["a.example", "*.a.example"], []
            ),
            (
                .androidNSC,
                android(
                    "<debug-overrides/><domain-config><domain>a.example</domain>\(set)<trust-anchors/>"
                        + "<domain-config><domain>b.example</domain></domain-config></domain-config>"
                        + "<domain-config><domain>c.example</domain></domain-config>"), ["a.example", "b.example"],
                [
                    "<debug-overrides> is not imported", "<trust-anchors> of a.example is not imported",
                    "c.example has no pins and is left out",
                ]
            ),
            (
                .androidNSC, android("<domain-config><domain>a.example</domain><domain>a.example</domain>\(set)</domain-config>"),
                ["a.example"], []
            ),
            (
                .hpkp, "# api.example\n# the key of 2026\n" + field("max-age=100; report-uri=\"https://r.example\""),
                ["api.example"],
                ["api.example: max-age, report-uri is not imported"]
            ),
            (.json, json("::1", ", \"port\": 443"), ["[::1]:443"], []), (.json, json("[::1]"), ["::1"], []),
            (.json, json("[::1]", ", \"port\": 443"), ["[::1]:443"], []),
            (.json, json("a.example", ", \"enforce_from\": \"2027-01-01\""), ["a.example"], []),
            (
                .trustKit,
                "<plist version=\"1.0\"><dict><key>TSKSwizzleNetworkDelegates</key><false/><key>TSKPinnedDomains</key><dict>"
                    + "<key>a.example</key><dict><key>TSKReportUris</key><array/><key>TSKPublicKeyHashes</key><array><string>\(a)</string>"
                    + "</array></dict><key>b.a.example</key><dict><key>TSKExcludeSubdomainFromParentPolicy</key><true/></dict></dict>"
                    + "</dict></plist>", ["a.example"],
                [
                    "TSKSwizzleNetworkDelegates is not imported", "a.example: TSKReportUris is not imported",
                    "b.a.example has no pins and is left out",
                ]
            ),
        ] as [(PinFormat, String, [String], [String])])
    func finds(format: PinFormat, text: String, titles: [String], expectedNotes: [String]) throws {
        var notes: [String] = []
        let hosts = try format.read(text, host: nil, notes: &notes)
        #expect(hosts.flatMap(\.parts).map(\.title) == titles)
        #expect(notes == expectedNotes)
        let folder = try TemporaryFolder()
        _ = try folder.write(PinnedHost.settings(hosts), to: "pins.d/x.yaml")
        _ = try folder.write(TrustVectors.pem("root"), to: "root.pem")
        let file = try folder.write("tls: {pins_from: pins.d}\n", to: "larder.yaml")
        let files = TrustFiles(systemBundles: ["\(folder.path)/root.pem"])
        switch SettingsSources(file: file, environment: [:], trustFiles: files).load().outcome {
        case .settings(let settings): #expect(settings.tls.loaded?.pinned == hosts.flatMap(\.parts))
        case .problems(let problems): Issue.record("\(problems.map(\.description))")
        }
    }

    @Test(
        "Input that would be skipped or misread is refused with its reason",
        arguments: [
            (
                .curl, curl("--pinnedpubkey sha256//\(b) https://a.example"),
                "a command has several --pinnedpubkey options, and curl uses only the last"
            ),
            (
                .curl, curl("--odd https://a.example"),
                "`--odd` is an unknown option, so Larder cannot tell whether a value or a URL follows it"
            ),
            (.curl, curl("http://a.example"), "`http://a.example` is not an https URL with a host"),
            (
                .curl, curl("https://a.example") + curl("https://a.example", b),
                "a.example is listed twice, with different pins"
            ),
            (
                .curl, "curl --proxy-pinnedpubkey sha256//\(a) https://a.example",
                "`--proxy-pinnedpubkey` is not imported: Larder imports only --pinnedpubkey"
            ),
            (.curl, "pinnedpubkey = \"sha256//\(a)\"", "pinnedpubkey appears outside a curl command"),
            (.curl, curl("https://a.example:0/"), "a.example has an invalid port"),
            (.okHTTP, ".add(\"b.example\", *arrayOf(\"sha256/\(a)\"))", "an argument of `add` is not a string"),
            (.okHTTP, "Pin(\"b.example\", \"sha256/\(a)\")", "`sha256/\(a)` is not an argument of `add`, so its host is unknown"),
            (.okHTTP, "/* .add(", "a comment is not closed"), (.okHTTP, ".add(\"a", "a string is not closed"),
            (.hpkp, "# a.example\n" + field("max-age=0"), "the pins of a.example are removed (max-age=0)"),
            (.hpkp, "# a.example\n" + field(""), "a.example has no max-age, so its pins have no effect"),
            (
                .hpkp, "# a.example\n# b.example\n" + field("max-age=1"),
                "a field follows two host names, a.example and b.example: use --host"
            ),
            (
                .json, json("a.example", ", \"expire\": \"2027-01-01\""),
                "unknown key `expire` of a.example; did you mean `expires`?"
            ),
            (
                .json, json("a.example", ", \"backup\": [\"sha256/\(a)\"]"),
                "a backup of a.example is also an active pin of this host"
            ),
            (.json, json("a.example", ", \"port\": 0"), "a.example has an invalid port"),
            (.json, json("*.::1"), "`*.::1` is not a host"),
            (.json, json("a.example", ", \"on_expiry\": \"fail\""), "a.example has `on_expiry` without `expires`"),
        ] as [(PinFormat, String, String)])
    func refuses(format: PinFormat, text: String, reason: String) {
        var notes: [String] = []
        #expect(throws: PinFormatError(reason)) { try format.read(text, host: nil, notes: &notes) }
    }

    @Test("A host given by --host is used, whatever the comments say")
    func prefersTheNamedHost() throws {
        var notes: [String] = []
        let text = "# generated\n" + Self.field("max-age=1")
        #expect(try PinFormat.hpkp.read(text, host: "api.example", notes: &notes).map(\.name) == ["api.example"])
        #expect(throws: PinFormatError("the file has several Public-Key-Pins fields; --host works only with one")) {
            try PinFormat.hpkp.read(text + text, host: "api.example", notes: &notes)
        }
        #expect(throws: PinFormatError("files in this format name their hosts: omit --host")) {
            try PinFormat.json.read(Self.json("a.example"), host: "b.example", notes: &notes)
        }
    }

    @Test("A file of the largest length is read in one pass", arguments: [".add(", "\"", "/*", "'"], [" ", "x", "/"])
    func readsInOnePass(start: String, pending: String) {
        var notes: [String] = []
        let text = start + String(repeating: pending, count: TrustFiles.pinFileLimit / 4)
        let taken = cpuTime {
            for format in [PinFormat.okHTTP, .curl] {
                #expect(throws: PinFormatError.self) { try format.read(text, host: nil, notes: &notes) }
            }
        }
        // Quadratic time would take minutes.
        #expect(taken < .seconds(30))
    }
}
