/// The modules that each module may import. docs/architecture.md has the same table in prose.
enum ModuleTable {
    struct Module: Sendable {
        /// Other modules of Larder, and shims.
        let ours: Set<String>
        /// Packages, and modules of the toolchain.
        let others: Set<String>

        init(_ ours: Set<String>, others: Set<String> = []) {
            self.ours = ours
            self.others = others
        }
    }

    /// These modules receive time, randomness and bytes as arguments. They use no clock, socket, file or lock.
    /// OpenSSL generates the random keys, salts and serial numbers of CertificateAuthority, ClientPasswords, SecretScanning and
    /// SignedEntries.
    static let pureModules: Set<String> = [
        "HTTPMessage", "TextCoding", "Metrics", "ParentSelection", "HTTPWire", "HTTP2Wire", "WebSocketWire", "RESPWire",
        "HTTPCaching", "ProxyPolicy", "ServerTrust", "CertificateAuthority", "ClientPasswords", "SecretScanning", "PolicyTools",
        "ProxyCore", "SignedEntries",
    ]

    /// Only rows above layer 4 have Foundation: its 6 MiB are resident in every process, and its calls allocate.
    static let modules: [String: Module] = [
        // Layer 0
        "HTTPMessage": Module([]),
        "TextCoding": Module([]),
        "Metrics": Module([]),
        "ParentSelection": Module([]),
        // Layer 1
        "HTTPWire": Module(["HTTPMessage"]),
        "HTTP2Wire": Module(["HTTPMessage", "HTTPWire", "CLarderNghttp2"]),
        "WebSocketWire": Module(["HTTPMessage", "CLarderZlib"]),
        "HTTPCaching": Module(["HTTPMessage"], others: ["RawStructuredFieldValues"]),
        "ProxyPolicy": Module(["HTTPMessage", "HTTPCaching"]),
        "HTTPSerialization": Module(
            ["HTTPMessage", "CLarderZlib", "CLarderBrotli", "CLarderZstd", "CLarderXML2", "CLarderOpenSSL"],
            others: ["Glibc", "RawStructuredFieldValues"]),
        "RESPWire": Module([]),
        "SQLiteDatabase": Module(["CLarderSQLite"], others: ["Glibc"]),
        // Layer 2
        "ServerTrust": Module(["HTTPMessage", "CLarderOpenSSL"]),
        "TLSChannel": Module(["ServerTrust", "CLarderOpenSSL", "CLarderLinux"], others: ["Glibc"]),
        "CertificateAuthority": Module(["HTTPMessage", "ServerTrust", "CLarderOpenSSL"]),
        "SignedEntries": Module(["HTTPMessage", "HTTPCaching", "ServerTrust", "CLarderOpenSSL"]),
        "ClientPasswords": Module(["HTTPMessage", "CLarderOpenSSL", "CLarderCrypt"]),
        "PolicyTools": Module(["HTTPMessage", "TextCoding", "HTTPWire", "ProxyPolicy"]),
        "SecretScanning": Module(["HTTPMessage", "HTTPSerialization", "CLarderOpenSSL"]),
        "EventLoop": Module(["CLarderLinux"], others: ["Glibc", "Synchronization"]),
        "Reachability": Module(["EventLoop", "CLarderLinux"], others: ["Glibc"]),
        "UpstreamTransport": Module(
            [
                "ParentSelection", "HTTPMessage", "HTTPWire", "HTTP2Wire", "HTTPCaching", "ServerTrust", "TLSChannel",
                "EventLoop",
                "CLarderCurl", "CLarderLinux",
            ],
            others: ["Glibc", "Synchronization"]),
        "LarderHTTP": Module(
            [
                "HTTPMessage", "TextCoding", "HTTPWire", "WebSocketWire", "HTTPCaching", "HTTPSerialization", "ServerTrust",
                "EventLoop", "UpstreamTransport", "Reachability", "CLarderPSL",
            ], others: ["Glibc", "Synchronization"]),
        "Snapshots": Module(
            ["HTTPMessage", "HTTPCaching", "HTTPSerialization", "ServerTrust", "SecretScanning", "SQLiteDatabase"],
            others: ["Glibc"]),
        "ResponseStore": Module(
            ["HTTPMessage", "HTTPCaching", "SQLiteDatabase", "EventLoop", "CLarderXXHash", "CLarderLinux"],
            others: ["Glibc", "Synchronization"]),
        // Layer 3
        "LarderFoundation": Module(["HTTPSerialization", "LarderHTTP"], others: ["Foundation"]),
        "LarderTesting": Module(
            ["HTTPMessage", "HTTPCaching", "HTTPSerialization", "LarderHTTP", "ServerTrust", "EventLoop", "Snapshots"]),
        "SharedFetches": Module(
            ["HTTPMessage", "HTTPCaching", "EventLoop", "ResponseStore"], others: ["Synchronization"]),
        "ProxyCore": Module(["HTTPMessage", "HTTPCaching", "ProxyPolicy"]),
        // Layer 4
        "SharedTier": Module(
            [
                "HTTPMessage", "HTTPCaching", "RESPWire", "ServerTrust", "TLSChannel", "SignedEntries", "EventLoop",
                "ResponseStore", "CLarderLinux",
            ], others: ["Glibc", "Synchronization"]),
        "AccessLog": Module(
            ["HTTPMessage", "ServerTrust", "EventLoop", "UpstreamTransport", "ProxyCore", "CLarderLinux"],
            others: ["Glibc", "Synchronization"]),
        "Telemetry": Module(["HTTPMessage", "TextCoding", "EventLoop"], others: ["Synchronization"]),
        "AuditLog": Module(["HTTPMessage", "TextCoding", "ServerTrust", "EventLoop"], others: ["Glibc"]),
        "BodyTransforms": Module(
            ["HTTPMessage", "HTTPCaching", "ProxyPolicy", "HTTPSerialization", "EventLoop", "ProxyCore", "CLarderLinux"],
            others: ["Glibc", "Synchronization"]),
        "Recordings": Module(
            [
                "HTTPMessage", "HTTPCaching", "HTTPSerialization", "ServerTrust", "SecretScanning", "EventLoop", "ResponseStore",
                "Snapshots", "ProxyCore",
            ], others: ["Synchronization"]),
        "ProxyServer": Module(
            [
                "HTTPMessage", "HTTPWire", "HTTP2Wire", "HTTPCaching", "ProxyPolicy", "HTTPSerialization", "ServerTrust",
                "TLSChannel",
                "CertificateAuthority", "ClientPasswords", "EventLoop", "ParentSelection", "UpstreamTransport", "ResponseStore",
                "Reachability", "Snapshots",
                "TextCoding", "ProxyCore", "AccessLog", "AuditLog", "Telemetry", "Recordings", "BodyTransforms", "SharedFetches",
                "Metrics",
                "CLarderLinux",
            ], others: ["Glibc", "Synchronization", "Logging"]),
        "ProxyAdmin": Module(
            [
                "HTTPMessage", "TextCoding", "Metrics", "HTTPWire", "HTTPCaching", "ProxyPolicy", "EventLoop", "ResponseStore",
                "ProxyCore", "AuditLog", "ParentSelection",
                "ProxyServer", "CLarderLinux",
            ], others: ["Glibc"]),
        // Layer 5
        "CommandSupport": Module(["HTTPMessage", "ProxyPolicy", "ServerTrust"], others: ["Foundation"]),
        "LocalCA": Module(
            ["HTTPMessage", "ServerTrust", "CertificateAuthority", "CommandSupport"], others: ["Foundation"]),
        "Downloads": Module(
            [
                "HTTPMessage", "TextCoding", "HTTPSerialization", "ServerTrust", "EventLoop", "LarderHTTP", "CommandSupport",
                "CLarderLinux",
            ], others: ["Foundation", "Synchronization"]),
        "LarderSettings": Module(
            [
                "HTTPMessage", "TextCoding", "HTTPWire", "ProxyPolicy", "HTTPSerialization", "ServerTrust", "TLSChannel",
                "CertificateAuthority", "ClientPasswords", "UpstreamTransport", "SignedEntries", "PolicyTools", "CommandSupport",
                "LocalCA", "RESPWire",
            ], others: ["Foundation", "Yams"]),
        "PinTools": Module(
            [
                "TextCoding", "ProxyPolicy", "ServerTrust", "EventLoop", "UpstreamTransport", "CommandSupport",
                "LarderSettings",
            ], others: ["Foundation"]),
        "AdminClient": Module(
            ["HTTPMessage", "TextCoding", "HTTPWire", "ProxyAdmin", "CommandSupport", "LarderSettings", "CLarderLinux"],
            others: ["FoundationEssentials", "Glibc"]),
        "CommandEnvironment": Module(
            [
                "HTTPMessage", "TextCoding", "ServerTrust", "CertificateAuthority", "EventLoop", "ProxyServer", "ProxyAdmin",
                "CommandSupport", "LarderSettings", "AdminClient", "CLarderLinux",
            ], others: ["Foundation"]),
        "Doctor": Module(
            [
                "HTTPMessage", "TextCoding", "ServerTrust", "CertificateAuthority", "EventLoop", "ProxyServer", "ProxyAdmin",
                "CommandSupport", "LocalCA", "LarderSettings", "AdminClient", "CommandEnvironment", "CLarderLinux",
            ], others: ["Foundation", "Synchronization"]),
        // Layer 6
        "LarderCLI": Module(
            [
                "HTTPMessage", "TextCoding", "HTTPWire", "HTTPCaching", "ProxyPolicy", "HTTPSerialization", "ServerTrust",
                "CertificateAuthority", "ClientPasswords", "SecretScanning", "SignedEntries", "EventLoop", "UpstreamTransport",
                "LarderHTTP", "ResponseStore",
                "Snapshots", "ProxyCore", "AccessLog", "AuditLog", "Telemetry", "Recordings", "ProxyServer", "ProxyAdmin",
                "CommandSupport",
                "LocalCA", "Downloads", "LarderSettings", "PinTools", "PolicyTools", "AdminClient", "CommandEnvironment",
                "Doctor", "SharedTier", "Metrics",
                "CLarderLinux",
            ], others: ["Foundation", "Dispatch", "Synchronization", "ArgumentParser", "Logging"]),
        "larder": Module(["LarderCLI"]),
    ]

    /// Files that may use `@unchecked Sendable`, `nonisolated(unsafe)` or `Unmanaged`, each with the reason.
    static let permittedEscapes: [String: String] = [
        "Sources/TLSChannel/TLSSession.swift": "libssl's callbacks carry their owner as a pointer",
        "Sources/HTTP2Wire/HTTP2Session.swift": "libnghttp2's callbacks carry their owner as a pointer",
        "Sources/HTTP2Wire/SessionCallbacks.swift": "as HTTP2Session",
        "Sources/EventLoop/Guarded.swift": "tells ThreadSanitizer which lock it is, in its builds only",
        "Sources/EventLoop/LoopThread.swift": "hands a thread's first argument over through pthread_create",
        "Sources/UpstreamTransport/Transport/CurlAttempt.swift": "libcurl's callbacks carry their owner as a pointer",
        "Sources/UpstreamTransport/Transport/Connector.swift": "as CurlAttempt",
        "Sources/UpstreamTransport/Transport/ConnectorCallbacks.swift": "as CurlAttempt",
        "Sources/UpstreamTransport/Transport/EasyHandles.swift": "as CurlAttempt",
        "Sources/ResponseStore/Pending/BodyChunk.swift":
            "bytes are written once, under the pending's lock, before a range that holds them is given out",
        "Sources/ResponseStore/Threads/Monitor.swift": "guarded by the C library's lock, on which threads can wait",
        "Sources/ServerTrust/HandshakeJudge.swift": "libssl's callbacks carry their owner as a pointer",
        "Sources/ServerTrust/HandshakeCallbacks.swift": "as HandshakeJudge",
        "Sources/ProxyCore/EventData.swift": "a head on its way into an exchange, which is of one loop",
        "Sources/ProxyServer/TLS/HandshakeBeginning.swift":
            "a session on its way from the thread that began it to its loop, of which nobody else has a reference",
        "Sources/ServerTrust/OwnedObject.swift": "what OpenSSL made is only read from then on, and counted and locked by itself",
        "Sources/ResponseStore/Threads/StoreThread.swift": "hands a thread's first argument over through pthread_create",
    ]

    /// Test sources that may sleep, each with the reason why no event and no `eventually` can replace it.
    static let permittedSleeps: [String: String] = [
        "Tests/Support/Eventually.swift": "the one place where a condition without an event is looked at again",
        "Tests/Support/OriginConnection.swift": "an origin that sends each byte in a packet of its own",
        "Tests/Support/PatternedBody.swift": "a client that takes a body at a given pace",
        "Tests/ResponseStoreTests/PendingResponseTests.swift": "readers of several speeds",
        "Tests/StoreTorture/StoreTorture.swift": "a program that makes load, at a pace that a store can follow",
        "Tests/StoreTorture/BackingStore.swift": "as StoreTorture",
        "Tests/StoreTorture/Purging.swift": "as StoreTorture",
        "Tests/SnapshotTorture/SnapshotTorture.swift": "as StoreTorture",
        "Tests/LarderHTTPTests/CancellationStormTests.swift": "cancels at moments of a seeded generator",
        "Tests/LarderHTTPTests/SessionRetryTests.swift": "a network that does not come back",
        "Tests/LarderTestingTests/ScriptedFaultTests.swift": "sleeps on a virtual clock, which the test advances",
        "Tests/LarderCLITests/DoctorTests.swift": shellPolls,
        "Tests/LarderCLITests/EnvTests.swift": shellPolls,
        "Tests/LarderCLITests/FetchOrigin.swift": shellPolls,
        "Tests/LarderCLITests/FetchSignalTests.swift": "as FetchOrigin; and a signal comes at a different moment in each round",
        "Tests/LarderCLITests/FetchTests.swift": shellPolls,
        "Tests/LarderCLITests/RecordingStoriesTests.swift": "two replays that run at the same time",
        "Tests/LarderCLITests/RunInterceptionTests.swift": shellPolls,
        "Tests/LarderCLITests/RunTests.swift": "as FetchOrigin; and commands that last until they are ended",
    ]

    private static let shellPolls = "a shell script waits for a file or a process, for which a shell has no event"
}
