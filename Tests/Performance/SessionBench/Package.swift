// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that Larder itself does not depend on what it is measured beside.
let package = Package(
    name: "session-bench",
    dependencies: [
        .package(name: "larder", path: "../../.."),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "SessionBench",
            dependencies: [
                .product(name: "LarderHTTP", package: "larder"), .product(name: "HTTPSerialization", package: "larder"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
