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
        .library(name: "HTTPSerialization", targets: ["HTTPSerialization"]),
        .library(name: "ServerTrust", targets: ["ServerTrust"]),
        .library(name: "CertificateAuthority", targets: ["CertificateAuthority"]),
        .library(name: "LarderHTTP", targets: ["LarderHTTP"]),
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
        .systemLibrary(name: "CLarderLinux"),
        .systemLibrary(name: "CLarderCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLarderSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLarderZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLarderBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CLarderZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CLarderXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CLarderPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
        .systemLibrary(name: "CLarderOpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        // The only one with a source file.
        .target(name: "CLarderOpenSSLAtExit", linkerSettings: [.linkedLibrary("crypto")]),
        .systemLibrary(name: "CLarderNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CLarderXXHash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(name: "CLarderCrypt", pkgConfig: "libcrypt", providers: [.apt(["libcrypt-dev"])]),

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
        module("WebSocketWire", uses: ["HTTPMessage", "CLarderZlib"]),
        module("HTTP2Wire", uses: ["HTTPMessage", "HTTPWire", "CLarderNghttp2"]),
        module("RESPWire", uses: []),
        module("SQLiteDatabase", uses: ["CLarderSQLite"]),
        module(
            "HTTPSerialization",
            uses: [
                "HTTPMessage", "CLarderZlib", "CLarderBrotli", "CLarderZstd", "CLarderXML2", "CLarderOpenSSL",
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ]),
        // Layer 2
        module("ServerTrust", uses: ["HTTPMessage", "CLarderOpenSSL", "CLarderOpenSSLAtExit"]),
        module("TLSChannel", uses: ["ServerTrust", "CLarderOpenSSL", "CLarderLinux"]),
        module("CertificateAuthority", uses: ["HTTPMessage", "ServerTrust", "CLarderOpenSSL"]),
        module("SignedEntries", uses: ["HTTPMessage", "HTTPCaching", "ServerTrust", "CLarderOpenSSL"]),
        module("ClientPasswords", uses: ["HTTPMessage", "CLarderOpenSSL", "CLarderCrypt"]),
        module("PolicyTools", uses: ["HTTPMessage", "TextCoding", "HTTPWire", "ProxyPolicy"]),
        module("SecretScanning", uses: ["HTTPMessage", "HTTPSerialization", "CLarderOpenSSL"]),
        module("EventLoop", uses: ["CLarderLinux"]),
        module("Reachability", uses: ["EventLoop", "CLarderLinux"]),
        module(
            "UpstreamTransport",
            uses: [
                "ParentSelection", "HTTPMessage", "HTTPWire", "HTTP2Wire", "HTTPCaching", "ServerTrust", "TLSChannel",
                "EventLoop", "CLarderCurl",
                "CLarderLinux",
            ]),
        module(
            "LarderHTTP",
            uses: [
                "HTTPMessage", "TextCoding", "HTTPWire", "WebSocketWire", "HTTPCaching", "HTTPSerialization", "ServerTrust",
                "EventLoop", "UpstreamTransport", "Reachability", "CLarderPSL",
            ]),
        module(
            "Snapshots",
            uses: [
                "HTTPMessage", "HTTPCaching", "HTTPSerialization", "ServerTrust", "SecretScanning", "SQLiteDatabase",
            ]),
        module("ResponseStore", uses: ["HTTPMessage", "HTTPCaching", "SQLiteDatabase", "EventLoop", "CLarderXXHash"]),
        // Layer 3
        module("LarderFoundation", uses: ["HTTPSerialization", "LarderHTTP"]),
        module(
            "LarderTesting",
            uses: [
                "HTTPMessage", "HTTPCaching", "HTTPSerialization", "LarderHTTP", "ServerTrust", "EventLoop", "Snapshots",
            ]),
        module("SharedFetches", uses: ["HTTPMessage", "HTTPCaching", "EventLoop", "ResponseStore"]),
        module("ProxyCore", uses: ["HTTPMessage", "HTTPCaching", "ProxyPolicy"]),
        // Layer 4
        module(
            "SharedTier",
            uses: [
                "HTTPMessage", "HTTPCaching", "RESPWire", "ServerTrust", "TLSChannel", "SignedEntries", "EventLoop",
                "ResponseStore", "CLarderLinux",
            ]),
        module(
            "AccessLog", uses: ["HTTPMessage", "ServerTrust", "EventLoop", "UpstreamTransport", "ProxyCore", "CLarderLinux"]),
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
            uses: ["HTTPMessage", "HTTPCaching", "ProxyPolicy", "HTTPSerialization", "EventLoop", "ProxyCore", "CLarderLinux"]),
        module(
            "ProxyServer",
            uses: [
                "HTTPMessage", "HTTPWire", "HTTP2Wire", "HTTPCaching", "ProxyPolicy", "HTTPSerialization", "ServerTrust",
                "TLSChannel",
                "CertificateAuthority", "ClientPasswords", "EventLoop", "ParentSelection", "UpstreamTransport", "ResponseStore",
                "Reachability", "Snapshots",
                "TextCoding", "ProxyCore", "AccessLog", "AuditLog", "Telemetry", "Recordings", "BodyTransforms", "SharedFetches",
                "Metrics",
                "CLarderLinux",
            ]),
        module(
            "ProxyAdmin",
            uses: [
                "HTTPMessage", "TextCoding", "Metrics", "HTTPWire", "HTTPCaching", "ProxyPolicy", "EventLoop", "ResponseStore",
                "ProxyCore", "AuditLog", "ParentSelection", "ProxyServer", "CLarderLinux",
            ],
            // scripts/page-files.py makes Swift sources of them.
            leavingOut: ["Page/Files"]),
        // Layer 5
        module("CommandSupport", uses: ["HTTPMessage", "ProxyPolicy", "ServerTrust"]),
        module("LocalCA", uses: ["HTTPMessage", "ServerTrust", "CertificateAuthority", "CommandSupport"]),
        module(
            "Downloads",
            uses: [
                "HTTPMessage", "TextCoding", "HTTPSerialization", "ServerTrust", "EventLoop", "LarderHTTP", "CommandSupport",
                "CLarderLinux",
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
            uses: ["HTTPMessage", "TextCoding", "HTTPWire", "ProxyAdmin", "CommandSupport", "LarderSettings", "CLarderLinux"]),
        module(
            "CommandEnvironment",
            uses: [
                "HTTPMessage", "TextCoding", "ServerTrust", "CertificateAuthority", "EventLoop", "ProxyServer", "ProxyAdmin",
                "CommandSupport", "LarderSettings", "AdminClient", "CLarderLinux",
            ]),
        module(
            "Doctor",
            uses: [
                "HTTPMessage", "TextCoding", "ServerTrust", "CertificateAuthority", "EventLoop", "ProxyServer", "ProxyAdmin",
                "CommandSupport", "LocalCA", "LarderSettings", "AdminClient", "CommandEnvironment", "CLarderLinux",
            ]),
        // Layer 6
        module(
            "LarderCLI",
            uses: [
                "HTTPMessage", "TextCoding", "HTTPWire", "HTTPCaching", "ProxyPolicy", "HTTPSerialization", "ServerTrust",
                "CertificateAuthority", "ClientPasswords", "SecretScanning", "SignedEntries", "EventLoop", "UpstreamTransport",
                "LarderHTTP", "ResponseStore", "Snapshots", "ProxyCore", "AccessLog", "AuditLog", "Telemetry", "Recordings",
                "ProxyServer",
                "ProxyAdmin", "CommandSupport", "LocalCA", "Downloads", "LarderSettings", "PinTools", "PolicyTools",
                "AdminClient", "Metrics", "SharedTier",
                "CommandEnvironment", "Doctor", "CLarderLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: withCommandLine),
                .product(name: "Logging", package: "swift-log", condition: withCommandLine),
            ]),
        .executableTarget(name: "larder", dependencies: ["LarderCLI"], swiftSettings: swift),
        // A program over the libraries alone, which docs/library.md shows.
        .executableTarget(
            name: "newest", dependencies: ["LarderHTTP", "HTTPSerialization", "ServerTrust", "ResponseStore"],
            path: "docs/samples/newest", swiftSettings: swift),

        .target(
            name: "TestSupport",
            dependencies: ["HTTPMessage", "HTTP2Wire", "ServerTrust", "EventLoop", "CLarderLinux", "CLarderOpenSSL"],
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
            name: "TrustBench", dependencies: ["ServerTrust", "LarderSettings", "CLarderOpenSSL"],
            path: "Tests/Performance/TrustBench",
            swiftSettings: swift),
        .executableTarget(
            name: "SerializationBench", dependencies: ["HTTPSerialization"],
            path: "Tests/Performance/SerializationBench", swiftSettings: swift),
        .executableTarget(
            name: "StoreBench", dependencies: ["ResponseStore", "HTTPCaching", "HTTPMessage", "EventLoop", "CLarderLinux"],
            path: "Tests/Performance/StoreBench", swiftSettings: swift),
        .executableTarget(
            name: "EntryBench", dependencies: ["SignedEntries", "ServerTrust", "HTTPCaching", "HTTPMessage"],
            path: "Tests/Performance/EntryBench", swiftSettings: swift),
        .executableTarget(
            name: "StoreTorture",
            dependencies: ["ResponseStore", "HTTPCaching", "HTTPMessage", "EventLoop", "CLarderLinux", "TestSupport"],
            path: "Tests/StoreTorture", swiftSettings: swift),
        .executableTarget(
            name: "SnapshotTorture", dependencies: ["Snapshots", "SecretScanning", "HTTPMessage", "ServerTrust"],
            path: "Tests/SnapshotTorture", swiftSettings: swift),
        .testTarget(name: "ArchitectureTests", exclude: ["names.tsv"], swiftSettings: swift),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "HTTPMessage", "HTTPWire", "HTTP2Wire", "WebSocketWire", "RESPWire", "HTTPCaching", "ProxyPolicy", "PolicyTools",
                "HTTPSerialization", "ServerTrust", "EventLoop", "LarderHTTP", "LarderSettings", "SignedEntries",
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
        tests(of: "HTTPSerialization", uses: ["HTTPMessage", "CLarderZlib"]),
        tests(of: "ServerTrust", uses: ["HTTPMessage"]),
        tests(of: "TLSChannel", uses: ["HTTPMessage", "ServerTrust", "CertificateAuthority"]),
        tests(of: "CertificateAuthority", uses: ["HTTPMessage", "ServerTrust"]),
        tests(of: "SignedEntries", uses: ["HTTPMessage", "HTTPCaching", "ServerTrust"]),
        tests(of: "ClientPasswords", uses: ["HTTPMessage"]),
        tests(of: "SecretScanning", uses: ["HTTPMessage", "HTTPSerialization"]),
        tests(of: "EventLoop", uses: ["CLarderLinux"]),
        tests(of: "Reachability", uses: ["EventLoop", "CLarderLinux"]),
        tests(
            of: "UpstreamTransport",
            uses: ["ParentSelection", "HTTPMessage", "HTTPWire", "HTTP2Wire", "ServerTrust", "EventLoop", "CLarderLinux"]),
        tests(
            of: "LarderHTTP",
            uses: [
                "HTTPMessage", "HTTPWire", "HTTP2Wire", "WebSocketWire", "HTTPCaching", "HTTPSerialization", "ServerTrust",
                "EventLoop", "ResponseStore", "Reachability", "LarderTesting", "CLarderLinux", "newest",
            ]),
        tests(
            of: "ResponseStore",
            uses: ["HTTPMessage", "HTTPCaching", "SQLiteDatabase", "EventLoop", "CLarderSQLite", "CLarderLinux", "StoreTorture"]),
        tests(
            of: "Snapshots",
            uses: [
                "HTTPMessage", "HTTPCaching", "HTTPSerialization", "ServerTrust", "SecretScanning", "SQLiteDatabase",
                "CLarderSQLite",
                "SnapshotTorture",
            ]),
        tests(of: "LarderFoundation", uses: ["EventLoop", "HTTPSerialization", "LarderHTTP", "LarderTesting"]),
        tests(
            of: "LarderTesting",
            uses: ["HTTPMessage", "HTTPCaching", "HTTPSerialization", "LarderHTTP", "ServerTrust", "Snapshots"]),
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
                "EventLoop", "UpstreamTransport", "ProxyCore", "CLarderLinux",
            ]),
        tests(
            of: "ProxyAdmin",
            uses: ["HTTPMessage", "HTTPCaching", "Metrics", "ResponseStore", "ProxyServer", "EventLoop", "CLarderLinux"]),
        tests(of: "CommandSupport"),
        tests(
            of: "LarderSettings",
            uses: [
                "HTTPMessage", "TextCoding", "ProxyPolicy", "ServerTrust", "UpstreamTransport", "SignedEntries",
                "CommandSupport",
            ]),
        tests(
            of: "PinTools", uses: ["ProxyPolicy", "ServerTrust", "CommandSupport", "LarderSettings"]),
        tests(of: "CommandEnvironment", uses: ["CLarderLinux"]),
        tests(of: "Downloads", uses: ["HTTPMessage", "EventLoop", "LarderHTTP", "CommandSupport"]),
        tests(
            of: "LarderCLI",
            uses: [
                "HTTPMessage", "TextCoding", "HTTPWire", "HTTPCaching", "UpstreamTransport", "LarderHTTP", "ProxyPolicy",
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
                "ParentSelection", "UpstreamTransport", "LarderHTTP",
                "ResponseStore", "Reachability", "ProxyCore", "SecretScanning", "Snapshots", "AccessLog", "Recordings",
                "ProxyServer", "ProxyAdmin", "LarderSettings", "LarderCLI", "RESPWire", "SharedTier", "EventLoop", "TestSupport",
                "CLarderLinux", "CLarderZlib",
            ],
            swiftSettings: swift),
    ],
    swiftLanguageModes: [.v6]
)
