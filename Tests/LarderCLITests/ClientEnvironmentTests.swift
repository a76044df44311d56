import CertificateAuthority
import Foundation
import ServerTrust
import TestSupport
import Testing

@testable import CommandEnvironment
@testable import LarderCLI
@testable import LarderSettings

@Suite("Environment variables for programs")
struct ClientEnvironmentTests {
    private static func environment(_ folder: String = "/f", carriesTrust: Bool = true) -> ClientEnvironment {
        ClientEnvironment(proxy: ListenAddress("[::1]:3180")!, files: ClientFiles(folder: folder), carriesTrust: carriesTrust)
    }

    private static func values(_ environment: ClientEnvironment, over given: [String: String] = [:]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: environment.variables(over: given).map { ($0.name, $0.value) })
    }

    private static func root() throws -> Certificate {
        try LocalAuthority(making: RootTerms(user: "u", host: "h"), at: POSIXTime(seconds: 1_795_000_000)).root
    }

    @Test("Every variable of the table is set once, in both cases if programs read both")
    func setsTheTable() {
        let values = Self.values(Self.environment())
        #expect(values.count == ClientVariable.all.count - 1, "all but AWS_CA_BUNDLE")
        #expect(values["RSYNC_PROXY"] == "[::1]:3180")
        #expect(values["http_proxy"] == "http://[::1]:3180" && values["HTTP_PROXY"] == "http://[::1]:3180")
        #expect(values["no_proxy"] == "" && values["NO_PROXY"] == "")
        #expect(values["SSL_CERT_FILE"] == "/f/ca-bundle.pem" && values["NODE_EXTRA_CA_CERTS"] == "/f/ca.pem")
    }

    @Test("AWS_CA_BUNDLE is replaced if it is set, and omitted otherwise, since rclone fails with it")
    func replacesBundles() {
        #expect(Self.values(Self.environment(), over: ["AWS_CA_BUNDLE": "/own.pem"])["AWS_CA_BUNDLE"] == "/f/ca-bundle.pem")
        for given in [[:], ["AWS_CA_BUNDLE": ""]] {
            #expect(Self.values(Self.environment(), over: given)["AWS_CA_BUNDLE"] == nil)
        }
    }

    @Test(
        "PHP reads its former folders, then the one with Larder's settings, once",
        arguments: [
            (nil, ":/f"), ("", "/f"), ("/a", "/a:/f"), (":/a", ":/a:/f"), (":/f", ":/f"), ("/f:/a", "/a:/f"), ("/f", "/f"),
        ]
            as [(String?, String)])
    func namesPHPFolders(given: String?, folders: String) {
        let values = Self.values(Self.environment(), over: given.map { ["PHP_INI_SCAN_DIR": $0] } ?? [:])
        #expect(values["PHP_INI_SCAN_DIR"] == folders)
        #expect(Self.values(Self.environment("/a:b"))["PHP_INI_SCAN_DIR"] == nil, "a colon parts folders")
    }

    @Test("PHP's settings name the bundle for curl and for streams; a path that PHP would misread is omitted")
    func writesPHPSettings() {
        func text(_ folder: String) -> String {
            String(decoding: ClientSettingsText(environment: Self.environment(folder), given: [:]).php, as: UTF8.self)
        }
        #expect(text("/a b") == "curl.cainfo = '/a b/ca-bundle.pem'\nopenssl.cafile = '/a b/ca-bundle.pem'\n")
        #expect(text("/it's") == "")
    }

    @Test("Programs that read no variable get advice", arguments: ["aria2c", "/usr/bin/chromium", "curl"])
    func advises(program: String) {
        let sentence = ProgramAdvice.sentence(for: program)
        #expect((sentence == nil) == (program == "curl"))
        if program == "aria2c" { #expect(sentence?.contains("--ca-certificate") == true) }
    }

    @Test("If no certificates besides the system's are trusted, the trust variables stay unchanged")
    func leavesTrustAlone() {
        let values = Self.values(Self.environment(carriesTrust: false))
        #expect(values["SSL_CERT_FILE"] == nil && values["npm_config_cafile"] == nil)
        #expect(values["JAVA_TOOL_OPTIONS"]?.contains("trustStore") == false && values["https_proxy"] != nil)
    }

    @Test("Java options are appended to the existing ones, once, with any kind of path")
    func joinsJavaOptions() {
        let environment = Self.environment("/a b/it's \"c\"")
        let first = Self.values(environment, over: ["JAVA_TOOL_OPTIONS": "-Xmx1g"])["JAVA_TOOL_OPTIONS"] ?? ""
        #expect(first.hasPrefix("-Xmx1g -Dhttp.proxyHost=") && first.contains(" -Dhttp.nonProxyHosts= "))
        #expect(first.contains("trustStore='/a b/it'\"'\"'s \"c\"/trust.p12' "))
        #expect(Self.values(environment, over: ["JAVA_TOOL_OPTIONS": first])["JAVA_TOOL_OPTIONS"] == first)
    }

    @Test("Java options of an earlier Larder are removed, and other options stay", arguments: [true, false])
    func replacesJavaOptions(carriedTrust: Bool) {
        let before = ClientEnvironment(
            proxy: ListenAddress("127.0.0.1:9")!, files: ClientFiles(folder: "/a b/it's\n"), carriesTrust: carriedTrust)
        let options = Self.values(before, over: ["JAVA_TOOL_OPTIONS": "-Xmx1g"])["JAVA_TOOL_OPTIONS"] ?? ""
        let values = Self.values(Self.environment(), over: ["JAVA_TOOL_OPTIONS": "\(options) -Xss1m"])
        let own = Self.values(Self.environment())["JAVA_TOOL_OPTIONS"] ?? ""
        #expect(values["JAVA_TOOL_OPTIONS"] == "-Xmx1g -Xss1m \(own)")
    }

    @Test("The table in docs/run.md matches the code")
    func isDocumented() throws {
        let rows = ClientVariable.all.map { "| `\($0.name)` | \($0.meaning.about) | \($0.readers) |\n" }.joined()
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/run.md").standardizedFileURL
        #expect(try String(contentsOf: file, encoding: .utf8).contains(rows), "docs/run.md lacks:\n\(rows)")
    }

    @Test("The bundle contains the user's CA certificates followed by Larder's; a bundle that the user set replaces the system's")
    func makesTheBundle() throws {
        let folder = try TemporaryFolder()
        let (root, own, named) = (try Self.root(), try Self.root(), try Self.root())
        let place = try folder.write(String(own.pem.dropLast()), to: "own.pem")
        let trust = ClientTrust(root: root, anchors: [named, root], environment: ["SSL_CERT_FILE": place])
        #expect(trust.additions == [root, named])
        #expect(Certificate.reading(pem: trust.bundleText) == [own, root, named])
        #expect(Certificate.reading(pem: Array(trust.additionsText.utf8)) == [root, named])
    }

    @Test(
        "Java finds every certificate of the bundle in its store, with a password and without one",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/keytool")),
        arguments: ["changeit", nil] as [String?])
    func makesJavasStore(password: String?) throws {
        let folder = try TemporaryFolder()
        let trust = ClientTrust(root: try Self.root(), anchors: [], environment: [:])
        let count = try #require(Certificate.reading(pem: trust.bundleText)).count
        let store = "\(folder.path)/trust.p12"
        try Data(#require(trust.javaStore(password: password))).write(to: URL(filePath: store))
        let outcome = try CommandLineTests.shell(
            "keytool -J-Duser.language=en -list -keystore $store -storepass changeit", ["store": store])
        #expect(outcome.output.contains("Your keystore contains \(count) entr"), "\(outcome.output.prefix(300))")
        #expect(outcome.output.split(separator: "\n").count { $0.contains("trustedCertEntry") } == count)
    }

    @Test("wget's file starts with the user's content, and apt's file includes the former one")
    func keepsSettings() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("tries = 3\nno_proxy = all", to: ".wgetrc")
        let environment = Self.environment("/f")
        let own = try folder.write("", to: "mine.conf")
        let given = ["HOME": folder.path, "APT_CONFIG": own]
        let text = ClientSettingsText(environment: environment, given: given)
        #expect(
            String(decoding: text.wget, as: UTF8.self)
                == """
                tries = 3
                no_proxy = all
                use_proxy = on
                http_proxy = http://[::1]:3180
                https_proxy = http://[::1]:3180
                no_proxy =
                ca_certificate = /f/ca-bundle.pem

                """)
        #expect(
            String(decoding: text.apt, as: UTF8.self).hasPrefix(
                "#include \"\(own)\";\nAcquire::http::Proxy \"http://[::1]:3180\";\n"))
    }

    @Test("Lines that would be misread are omitted, even with combining marks", arguments: ["", "\u{301}"])
    func writesWhatCanBeRead(mark: String) throws {
        let folder = try TemporaryFolder()
        let other = try folder.write("", to: "\"\(mark); Acquire \"x")
        let environment = Self.environment("/f\"\(mark)\r\n\(mark)no_proxy = all")
        let text = ClientSettingsText(environment: environment, given: ["APT_CONFIG": other])
        #expect(!text.wget.contains(UInt8(ascii: "\r")))
        #expect(text.apt.count { $0 == UInt8(ascii: "\n") } == 2)
    }

    @Test("If files are written repeatedly, they start with the user's original content", arguments: ["one", "two"])
    func remembersWhatWasBefore(second: String) throws {
        let folder = try TemporaryFolder()
        let (root, own) = (try Self.root(), try Self.root())
        let given = [
            "HOME": folder.path, "WGETRC": try folder.write("tries = 3\n", to: "wget"),
            "APT_CONFIG": try folder.write("", to: "apt"), "SSL_CERT_FILE": try folder.write(own.pem, to: "own.pem"),
        ]
        var variables = given
        for name in ["one", second] {
            let files = ClientFiles(folder: "\(folder.path)/\(name)")
            let former = OriginalEnvironment(variables, behind: files)
            for variable in given.keys { #expect(former.values[variable] == given[variable]) }
            let environment = ClientEnvironment(proxy: ListenAddress("[::1]:3180")!, files: files, carriesTrust: true)
            let trust = ClientTrust(root: root, anchors: [], environment: former.values)
            #expect(Certificate.reading(pem: trust.bundleText) == [own, root])
            try ClientFolder(environment, trust: trust, former: former).update()
            let (wget, apt) = (
                try String(contentsOfFile: files.wgetSettings, encoding: .utf8),
                try String(contentsOfFile: files.aptSettings, encoding: .utf8)
            )
            #expect(wget.hasPrefix("tries = 3\nuse_proxy = on\n") && apt.hasPrefix("#include \"\(folder.path)/apt\";\nAcquire"))
            variables.merge(environment.values(over: variables)) { $1 }
        }
    }

    @Test("If nothing was set, or its file is missing, the default places are used, and no file includes itself")
    func fallsBack() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("tries = 3\n", to: ".wgetrc")
        let files = ClientFiles(folder: folder.path)
        _ = try folder.write("use_proxy = on\n", to: "wgetrc")
        let former = OriginalEnvironment(["HOME": folder.path, "WGETRC": files.wgetSettings], behind: files)
        #expect(former.values == ["HOME": folder.path])
        for given in [former.values, ["HOME": folder.path, "WGETRC": "/no/such", "APT_CONFIG": "/no/such"]] {
            let text = ClientSettingsText(environment: Self.environment(), given: given)
            #expect(String(decoding: text.wget, as: UTF8.self).hasPrefix("tries = 3\nuse_proxy"))
            #expect(String(decoding: text.apt, as: UTF8.self).hasPrefix("Acquire"))
        }
    }
}
