import Testing

@Suite("Imports between modules")
struct ImportTests {
    struct Import {
        let module: String
        let isPublic: Bool
    }

    @Test("Every module is in the table", arguments: Repository.modules)
    func standsInThePlan(module: String) {
        #expect(ModuleTable.modules[module] != nil, "Sources/\(module) is not in Tests/ArchitectureTests/ModuleTable.swift")
    }

    @Test("A module imports only the modules that the table permits", arguments: Repository.modules)
    func importsOnlyWhatIsGranted(module: String) {
        guard let granted = ModuleTable.modules[module] else { return }
        for file in Repository.sources where file.module == module {
            for (number, line) in file.code {
                guard let found = Self.importLine(line) else { continue }
                #expect(
                    granted.ours.contains(found.module) || granted.others.contains(found.module),
                    "\(file):\(number): \(module) may not import \(found.module)")
            }
        }
    }

    @Test("A pure module uses no clock, lock, task or random number", arguments: ModuleTable.pureModules.sorted())
    func staysPure(module: String) {
        let forbidden = [
            "ContinuousClock", "SuspendingClock", "clock_gettime", "gettimeofday", "SystemRandomNumberGenerator", ".random(in",
            "Guarded<", "Atomic<", "Task {", "Task.sleep", "await ",
        ]
        for file in Repository.sources where file.module == module {
            for (number, line) in file.code {
                for word in forbidden where line.contains(word) {
                    Issue.record("\(file):\(number): a pure module may not use \(word)")
                }
            }
        }
    }

    @Test("The settings reader imports only modules that the fuzzers are built with")
    func readsSettingsAlone() {
        let granted: Set = [
            "CertificateAuthority", "ClientPasswords", "CommandSupport", "Foundation", "HTTPMessage", "HTTPSerialization",
            "HTTPWire", "LocalCA", "UpstreamTransport", "PolicyTools", "ProxyPolicy", "RESPWire", "ServerTrust", "SignedEntries",
            "TextCoding", "TLSChannel", "Yams",
        ]
        let files = Repository.sources.filter { file in
            ["LarderSettings", "LocalCA", "CommandSupport"].contains(file.module)
        }
        #expect(!files.isEmpty)
        for file in files {
            for (number, line) in file.code {
                guard let found = Self.importLine(line) else { continue }
                #expect(granted.contains(found.module), "\(file):\(number): Tests/Fuzz/build.sh does not build \(found.module)")
            }
        }
    }

    @Test("A C shim is never imported publicly, and no module is re-exported")
    func keepsShimsInside() {
        for file in Repository.sources {
            for (number, line) in file.code {
                #expect(!line.contains("@_exported"), "\(file):\(number)")
                guard let found = Self.importLine(line), found.isPublic else { continue }
                #expect(!Self.isShim(found.module), "\(file):\(number): \(found.module) in public")
            }
        }
    }

    @Test(
        "The import reader understands every spelling",
        arguments: [
            ("import HTTPMessage", "HTTPMessage"), ("package import HTTPMessage", "HTTPMessage"),
            ("@testable import ProxyCore", "ProxyCore"), ("@preconcurrency public import Foundation", "Foundation"),
            ("import struct Foundation.Data", "Foundation"), ("import Foundation.NSDate  // why", "Foundation"),
            ("#if canImport(Glibc)", nil), ("let important = 1", nil),
        ] as [(String, String?)])
    func readsImportLines(line: String, module: String?) {
        #expect(Self.importLine(line[...])?.module == module)
    }

    static func importLine(_ line: Substring) -> Import? {
        // Regular expressions are slow in a debug build, and few lines need one.
        guard line.contains("import") else { return nil }
        let pattern =
            /^(?:@\w+(?:\([^)]*\))?\s+)*(?:(public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias|actor)\s+)?(\w+)/
        guard let match = line.prefixMatch(of: pattern) else { return nil }
        return Import(module: String(match.2), isPublic: match.1 == "public")
    }

    /// `CLarderCurl`, `CLarderLinux`: a C and another capital letter.
    static func isShim(_ module: String) -> Bool {
        module.hasPrefix("C") && module.dropFirst().first?.isUppercase == true
    }
}
