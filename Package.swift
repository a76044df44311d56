// swift-tools-version: 6.2
import PackageDescription

/// `LARDER_WARNINGS=error` (set by .ci/run) makes warnings errors, in our own targets only.
let warningsAreErrors = Context.environment["LARDER_WARNINGS"] == "error"

let swift: [SwiftSetting] =
    [.enableExperimentalFeature("Lifetimes")]
    // Set by `make tsan`, beside --sanitize=thread.
    + (Context.environment["LARDER_SANITIZE"] == "thread" ? [.define("SANITIZE_THREAD")] : [])
    + (warningsAreErrors ? [.unsafeFlags(["-warnings-as-errors"])] : [])

/// For packages that only the program uses: a package that disables the trait fetches none of them.
let withCommandLine = TargetDependencyCondition.when(traits: ["CommandLine"])

func module(_ name: String, uses dependencies: [Target.Dependency], leavingOut files: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: files, swiftSettings: swift)
}

func tests(of name: String, uses dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name), "TestSupport"] + dependencies, swiftSettings: swift)
}

let package = Package(
    name: "larder",
    products: [
        .executable(name: "larder", targets: ["larder"]),
        .library(name: "HTTPCaching", targets: ["HTTPCaching"]),
        .library(name: "ProxyPolicy", targets: ["ProxyPolicy"]),
        .library(name: "HTTPSerialization", targets: ["HTTPSerialization"]),
        .library(name: "ServerTrust", targets: ["ServerTrust"]),
        .library(name: "CertificateAuthority", targets: ["CertificateAuthority"]),
        .library(name: "HTTPSession", targets: ["HTTPSession"]),
        .library(name: "LarderFoundation", targets: ["LarderFoundation"]),
        .library(name: "LarderTesting", targets: ["LarderTesting"]),
        .library(name: "Reachability", targets: ["Reachability"]),
        .library(name: "ResponseStore", targets: ["ResponseStore"]),
    ],
    traits: [
        .trait(name: "CommandLine", description: "The program larder. Packages that use the libraries alone can disable it."),
        .default(enabledTraits: ["CommandLine"]),
    ],
    dependencies: [
        // Each has a page in docs/decisions.
        .package(url: "https://github.com/jpsim/Yams.git", exact: "6.2.2"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-http-structured-headers.git", exact: "1.7.0"),
    ],
    targets: [
        // Shims: module maps and static inline wrappers only.
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        // The only one with a source file.
        .target(name: "COpenSSLAtExit", linkerSettings: [.linkedLibrary("crypto")]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CXXHash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(name: "CCrypt", pkgConfig: "libcrypt", providers: [.apt(["libcrypt-dev"])]),

        // Layer 0
        module("HTTPMessage", uses: []),
        module("TextCoding", uses: []),
        module("Metrics", uses: []),
        module("ParentSelection", uses: []),
        // Layer 1
        module("HTTPWire", uses: ["HTTPMessage"]),
        module(
            "HTTPCaching",
            uses: [
                "HTTPMessage", .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ]),
        module("ProxyPolicy", uses: ["HTTPMessage", "HTTPCaching"]),
        module("WebSocketWire", uses: ["HTTPMessage", "CZlib"]),
        module("HTTP2Wire", uses: ["HTTPMessage", "HTTPWire", "CNghttp2"]),
        module("RESPWire", uses: []),
        module("SQLiteDatabase", uses: ["CSQLite"]),
        module(
            "HTTPSerialization",
            uses: [
                "HTTPMessage", "CZlib", "CBrotli", "CZstd", "CXML2", "COpenSSL",
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ]),
        // Layer 2
        module("ServerTrust", uses: ["HTTPMessage", "COpenSSL", "COpenSSLAtExit"]),
        module("TLSChannel", uses: ["ServerTrust", "COpenSSL", "CLinux"]),
        module("CertificateAuthority", uses: ["HTTPMessage", "ServerTrust", "COpenSSL"]),
        module("SignedEntries", uses: ["HTTPMessage", "HTTPCaching", "ServerTrust", "COpenSSL"]),
        module("ClientPasswords", uses: ["HTTPMessage", "COpenSSL", "CCrypt"]),
        module("PolicyTools", uses: ["HTTPMessage", "TextCoding", "HTTPWire", "ProxyPolicy"]),
        module("SecretScanning", uses: ["HTTPMessage", "HTTPSerialization", "COpenSSL"]),
        module("EventLoop", uses: ["CLinux"]),
        module("Reachability", uses: ["EventLoop", "CLinux"]),
        module(
            "UpstreamTransport",
            uses: [
                "ParentSelection", "HTTPMessage", "HTTPWire", "HTTP2Wire", "HTTPCaching", "ServerTrust", "TLSChannel",
                "EventLoop", "CCurl",
                "CLinux",
            ]),
        module(
            "HTTPSession",
            uses: [
                "HTTPMessage", "TextCoding", "HTTPWire", "WebSocketWire", "HTTPCaching", "HTTPSerialization", "ServerTrust",
                "EventLoop", "UpstreamTransport", "Reachability", "CPSL",
            ]),
        module(
            "Snapshots",
            uses: [
                "HTTPMessage", "HTTPCaching", "HTTPSerialization", "ServerTrust", "SecretScanning", "SQLiteDatabase",
            ]),
        module("ResponseStore", uses: ["HTTPMessage", "HTTPCaching", "SQLiteDatabase", "EventLoop", "CXXHash"]),
        // Layer 3
        module("LarderFoundation", uses: ["HTTPSerialization", "HTTPSession"]),
        module(
            "LarderTesting",
            uses: [
                "HTTPMessage", "HTTPCaching", "HTTPSerialization", "HTTPSession", "ServerTrust", "EventLoop", "Snapshots",
            ]),
        module("SharedFetches", uses: ["HTTPMessage", "HTTPCaching", "EventLoop", "ResponseStore"]),
        module("ProxyCore", uses: ["HTTPMessage", "HTTPCaching", "ProxyPolicy"]),
        // Layer 4
        module(
            "SharedTier",
            uses: [
                "HTTPMessage", "HTTPCaching", "RESPWire", "ServerTrust", "TLSChannel", "SignedEntries", "EventLoop",
                "ResponseStore", "CLinux",
            ]),
        module(
            "AccessLog", uses: ["HTTPMessage", "ServerTrust", "EventLoop", "UpstreamTransport", "ProxyCore", "CLinux"]),
        module("Telemetry", uses: ["HTTPMessage", "TextCoding", "EventLoop"]),
        module("AuditLog", uses: ["HTTPMessage", "TextCoding", "ServerTrust", "EventLoop"]),
        module(
            "Recordings",
            uses: [
                "HTTPMessage", "HTTPCaching", "HTTPSerialization", "ServerTrust", "SecretScanning", "EventLoop", "ResponseStore",
                "Snapshots", "ProxyCore",
            ]),
        module(
            "BodyTransforms",
            uses: ["HTTPMessage", "HTTPCaching", "ProxyPolicy", "HTTPSerialization", "EventLoop", "ProxyCore", "CLinux"]),
        module(
            "ProxyServer",
            uses: [
                "HTTPMessage", "HTTPWire", "HTTP2Wire", "HTTPCaching", "ProxyPolicy", "HTTPSerialization", "ServerTrust",
                "TLSChannel",
                "CertificateAuthority", "ClientPasswords", "EventLoop", "ParentSelection", "UpstreamTransport", "ResponseStore",
                "Reachability", "Snapshots",
                "TextCoding", "ProxyCore", "AccessLog", "AuditLog", "Telemetry", "Recordings", "BodyTransforms", "SharedFetches",
                "Metrics",
                "CLinux",
            ]),
        module(
            "ProxyAdmin",
            uses: [
                "HTTPMessage", "TextCoding", "Metrics", "HTTPWire", "HTTPCaching", "ProxyPolicy", "EventLoop", "ResponseStore",
                "ProxyCore", "AuditLog", "ParentSelection", "ProxyServer", "CLinux",
            ],
            // scripts/page-files.py makes Swift sources of them.
            leavingOut: ["Page/Files"]),
        // Layer 5
        module("CommandSupport", uses: ["HTTPMessage", "ProxyPolicy", "ServerTrust"]),
        module("LocalCA", uses: ["HTTPMessage", "ServerTrust", "CertificateAuthority", "CommandSupport"]),
        module(
            "Downloads",
            uses: [
                "HTTPMessage", "TextCoding", "HTTPSerialization", "ServerTrust", "EventLoop", "HTTPSession", "CommandSupport",
                "CLinux",
            ]),
        module(
            "LarderSettings",
            uses: [
                "HTTPMessage", "TextCoding", "HTTPWire", "ProxyPolicy", "HTTPSerialization", "ServerTrust", "TLSChannel",
                "CertificateAuthority", "ClientPasswords", "UpstreamTransport", "SignedEntries", "PolicyTools", "CommandSupport",
                "LocalCA", "RESPWire",
                .product(name: "Yams", package: "Yams", condition: withCommandLine),
            ]),
        module(
            "PinTools",
            uses: [
                "TextCoding", "ProxyPolicy", "ServerTrust", "EventLoop", "UpstreamTransport", "CommandSupport",
                "LarderSettings",
            ]),
        module(
            "AdminClient",
            uses: ["HTTPMessage", "TextCoding", "HTTPWire", "ProxyAdmin", "CommandSupport", "LarderSettings", "CLinux"]),
        module(
            "CommandEnvironment",
            uses: [
                "HTTPMessage", "TextCoding", "ServerTrust", "CertificateAuthority", "EventLoop", "ProxyServer", "ProxyAdmin",
                "CommandSupport", "LarderSettings", "AdminClient", "CLinux",
            ]),
        module(
            "Doctor",
            uses: [
                "HTTPMessage", "TextCoding", "ServerTrust", "CertificateAuthority", "EventLoop", "ProxyServer", "ProxyAdmin",
                "CommandSupport", "LocalCA", "LarderSettings", "AdminClient", "CommandEnvironment", "CLinux",
            ]),
        // Layer 6
        module(
            "LarderCLI",
            uses: [
                "HTTPMessage", "TextCoding", "HTTPWire", "HTTPCaching", "ProxyPolicy", "HTTPSerialization", "ServerTrust",
                "CertificateAuthority", "ClientPasswords", "SecretScanning", "SignedEntries", "EventLoop", "UpstreamTransport",
                "HTTPSession", "ResponseStore", "Snapshots", "ProxyCore", "AccessLog", "AuditLog", "Telemetry", "Recordings",
                "ProxyServer",
                "ProxyAdmin", "CommandSupport", "LocalCA", "Downloads", "LarderSettings", "PinTools", "PolicyTools",
                "AdminClient", "Metrics", "SharedTier",
                "CommandEnvironment", "Doctor", "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: withCommandLine),
                .product(name: "Logging", package: "swift-log", condition: withCommandLine),
            ]),
        .executableTarget(name: "larder", dependencies: ["LarderCLI"], swiftSettings: swift),
        // A program over the libraries alone, which docs/library.md shows.
        .executableTarget(
            name: "newest", dependencies: ["HTTPSession", "HTTPSerialization", "ServerTrust", "ResponseStore"],
            path: "docs/samples/newest", swiftSettings: swift),

        .target(
            name: "TestSupport", dependencies: ["HTTPMessage", "HTTP2Wire", "ServerTrust", "EventLoop", "CLinux", "COpenSSL"],
            path: "Tests/Support",
            swiftSettings: swift
        ),
        .executableTarget(
            name: "PolicyBench", dependencies: ["ProxyPolicy", "HTTPMessage", "HTTPWire", "HTTPCaching", "LarderSettings"],
            path: "Tests/Performance/PolicyBench", swiftSettings: swift),
        .executableTarget(
            name: "PolicyDiffBench", dependencies: ["PolicyTools", "ProxyPolicy", "LarderSettings"],
            path: "Tests/Performance/PolicyDiffBench", swiftSettings: swift),
        .executableTarget(
            name: "WireBench", dependencies: ["HTTPMessage", "HTTPWire"], path: "Tests/Performance/WireBench",
            swiftSettings: swift),
        .executableTarget(
            name: "TrustBench", dependencies: ["ServerTrust", "LarderSettings", "COpenSSL"], path: "Tests/Performance/TrustBench",
            swiftSettings: swift),
        .executableTarget(
            name: "SerializationBench", dependencies: ["HTTPSerialization"],
            path: "Tests/Performance/SerializationBench", swiftSettings: swift),
        .executableTarget(
            name: "StoreBench", dependencies: ["ResponseStore", "HTTPCaching", "HTTPMessage", "EventLoop", "CLinux"],
            path: "Tests/Performance/StoreBench", swiftSettings: swift),
        .executableTarget(
            name: "EntryBench", dependencies: ["SignedEntries", "ServerTrust", "HTTPCaching", "HTTPMessage"],
            path: "Tests/Performance/EntryBench", swiftSettings: swift),
        .executableTarget(
            name: "StoreTorture",
            dependencies: ["ResponseStore", "HTTPCaching", "HTTPMessage", "EventLoop", "CLinux", "TestSupport"],
            path: "Tests/StoreTorture", swiftSettings: swift),
        .executableTarget(
            name: "SnapshotTorture", dependencies: ["Snapshots", "SecretScanning", "HTTPMessage", "ServerTrust"],
            path: "Tests/SnapshotTorture", swiftSettings: swift),
        .testTarget(name: "ArchitectureTests", exclude: ["names.tsv"], swiftSettings: swift),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "HTTPMessage", "HTTPWire", "HTTP2Wire", "WebSocketWire", "RESPWire", "HTTPCaching", "ProxyPolicy", "PolicyTools",
                "HTTPSerialization", "ServerTrust", "EventLoop", "HTTPSession", "LarderSettings", "SignedEntries",
            ],
            path: "Tests/Fuzz/Targets", swiftSettings: swift),
        .testTarget(name: "FuzzReplayTests", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Replay", swiftSettings: swift),
        tests(of: "HTTPMessage"),
        tests(of: "Metrics"),
        tests(of: "ParentSelection"),
        tests(of: "HTTPWire", uses: ["HTTPMessage", "FuzzTargets"]),
        tests(of: "HTTP2Wire", uses: ["HTTPMessage"]),
        tests(of: "WebSocketWire", uses: ["HTTPMessage"]),
        tests(of: "RESPWire"),
        tests(of: "HTTPCaching", uses: ["HTTPMessage"]),
        tests(of: "ProxyPolicy", uses: ["HTTPMessage", "HTTPWire", "HTTPCaching"]),
        tests(of: "PolicyTools", uses: ["HTTPMessage", "HTTPWire", "ProxyPolicy", "LarderSettings"]),
        tests(of: "HTTPSerialization", uses: ["HTTPMessage", "CZlib"]),
        tests(of: "ServerTrust", uses: ["HTTPMessage"]),
        tests(of: "TLSChannel", uses: ["HTTPMessage", "ServerTrust", "CertificateAuthority"]),
        tests(of: "CertificateAuthority", uses: ["HTTPMessage", "ServerTrust"]),
        tests(of: "SignedEntries", uses: ["HTTPMessage", "HTTPCaching", "ServerTrust"]),
        tests(of: "ClientPasswords", uses: ["HTTPMessage"]),
        tests(of: "SecretScanning", uses: ["HTTPMessage", "HTTPSerialization"]),
        tests(of: "EventLoop", uses: ["CLinux"]),
        tests(of: "Reachability", uses: ["EventLoop", "CLinux"]),
        tests(
            of: "UpstreamTransport",
            uses: ["ParentSelection", "HTTPMessage", "HTTPWire", "HTTP2Wire", "ServerTrust", "EventLoop", "CLinux"]),
        tests(
            of: "HTTPSession",
            uses: [
                "HTTPMessage", "HTTPWire", "HTTP2Wire", "WebSocketWire", "HTTPCaching", "HTTPSerialization", "ServerTrust",
                "EventLoop", "ResponseStore", "Reachability", "LarderTesting", "CLinux", "newest",
            ]),
        tests(
            of: "ResponseStore",
            uses: ["HTTPMessage", "HTTPCaching", "SQLiteDatabase", "EventLoop", "CSQLite", "CLinux", "StoreTorture"]),
        tests(
            of: "Snapshots",
            uses: [
                "HTTPMessage", "HTTPCaching", "HTTPSerialization", "ServerTrust", "SecretScanning", "SQLiteDatabase", "CSQLite",
                "SnapshotTorture",
            ]),
        tests(of: "LarderFoundation", uses: ["EventLoop", "HTTPSerialization", "HTTPSession", "LarderTesting"]),
        tests(
            of: "LarderTesting",
            uses: ["HTTPMessage", "HTTPCaching", "HTTPSerialization", "HTTPSession", "ServerTrust", "Snapshots"]),
        tests(of: "SharedFetches", uses: ["HTTPMessage", "EventLoop"]),
        tests(of: "SharedTier", uses: ["HTTPMessage", "HTTPCaching", "RESPWire", "EventLoop", "ResponseStore"]),
        tests(of: "ProxyCore", uses: ["HTTPMessage", "HTTPWire", "HTTPCaching", "ProxyPolicy"]),
        tests(of: "Telemetry", uses: ["HTTPMessage", "EventLoop"]),
        tests(of: "AuditLog", uses: ["HTTPMessage", "TextCoding", "ServerTrust", "EventLoop"]),
        tests(of: "AccessLog", uses: ["HTTPMessage", "ServerTrust", "EventLoop", "ProxyCore"]),
        tests(of: "BodyTransforms", uses: ["HTTPMessage", "HTTPCaching", "ProxyPolicy", "EventLoop", "ProxyCore"]),
        tests(
            of: "ProxyServer",
            uses: [
                "HTTPMessage", "HTTPWire", "ProxyPolicy", "ServerTrust", "TLSChannel", "CertificateAuthority", "ClientPasswords",
                "EventLoop", "UpstreamTransport", "ProxyCore", "CLinux",
            ]),
        tests(
            of: "ProxyAdmin",
            uses: ["HTTPMessage", "HTTPCaching", "Metrics", "ResponseStore", "ProxyServer", "EventLoop", "CLinux"]),
        tests(of: "CommandSupport"),
        tests(
            of: "LarderSettings",
            uses: [
                "HTTPMessage", "TextCoding", "ProxyPolicy", "ServerTrust", "UpstreamTransport", "SignedEntries",
                "CommandSupport",
            ]),
        tests(
            of: "PinTools", uses: ["ProxyPolicy", "ServerTrust", "CommandSupport", "LarderSettings"]),
        tests(of: "CommandEnvironment", uses: ["CLinux"]),
        tests(of: "Downloads", uses: ["HTTPMessage", "EventLoop", "HTTPSession", "CommandSupport"]),
        tests(
            of: "LarderCLI",
            uses: [
                "HTTPMessage", "TextCoding", "HTTPWire", "HTTPCaching", "UpstreamTransport", "HTTPSession", "ProxyPolicy",
                "ServerTrust", "CertificateAuthority", "SecretScanning", "ResponseStore", "ProxyServer", "CommandSupport",
                "AuditLog", "LocalCA", "Downloads", "LarderSettings", "PinTools", "AdminClient", "CommandEnvironment", "Doctor",
                "larder",
                .product(name: "Logging", package: "swift-log", condition: withCommandLine),
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "HTTPMessage", "HTTP2Wire", "HTTPCaching", "ProxyPolicy", "ServerTrust", "CertificateAuthority",
                "ClientPasswords",
                "ParentSelection", "UpstreamTransport", "HTTPSession",
                "ResponseStore", "Reachability", "ProxyCore", "SecretScanning", "Snapshots", "AccessLog", "Recordings",
                "ProxyServer", "ProxyAdmin", "LarderSettings", "LarderCLI", "RESPWire", "SharedTier", "EventLoop", "TestSupport",
                "CLinux", "CZlib",
            ],
            swiftSettings: swift),
    ],
    swiftLanguageModes: [.v6]
)
