import Foundation
import HTTPMessage
import Testing
import UpstreamTransport

@testable import LarderCLI
@testable import LarderSettings

@Suite("Settings that serving needs")
struct ServingPlanTests {
    private func plan(_ yaml: String, environment: [String: String] = ["HOME": "/home/x"]) throws -> ServingPlan {
        try ServingPlan(
            LoadedSettings(settings: settings(yaml), file: nil, sources: SettingsSources(environment: environment)))
    }

    @Test(
        "An upstream proxy's user and password are decoded, and never shown",
        arguments: [
            ("http://proxy.test:3128", nil), ("http://me:a%3Ab@proxy.test:3128", "a:b"), ("http://me@proxy.test:3128/", ""),
        ] as [(String, String?)])
    func decodesCredentials(text: String, password: String?) throws {
        let address = try #require(UpstreamProxyAddress(text))
        let expected =
            password.map { UpstreamProxy(host: "proxy.test", port: 3128, user: "me", password: $0) }
            ?? UpstreamProxy(host: "proxy.test", port: 3128)
        #expect(address.proxy == expected)
        #expect(!address.redacted.contains("me"))
    }

    @Test("The store's path is as configured, else in the user's cache folder")
    func placesTheStore() throws {
        #expect(try plan("").storePath == "/home/x/.cache/larder/store.sqlite")
        #expect(try plan("", environment: ["XDG_CACHE_HOME": "/cache"]).storePath == "/cache/larder/store.sqlite")
        #expect(try plan("store: {path: ':memory:'}").storePath == ":memory:")
        #expect(try plan("store: {path: x.sqlite}").storePath == FileManager.default.currentDirectoryPath + "/x.sqlite")
        #expect(throws: (any Error).self) { try plan("", environment: [:]) }
    }

    @Test("The default is one loop per core, at most four; the setting overrides it")
    func countsLoops() throws {
        #expect((1...4).contains(try plan("").loopCount))
        #expect(try plan("loops: 7").loopCount == 7)
    }
}
