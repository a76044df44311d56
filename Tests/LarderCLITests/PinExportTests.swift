import CommandSupport
import Foundation
import FoundationXML
import ServerTrust
import TestSupport
import Testing

@testable import LarderCLI
@testable import LarderSettings
@testable import PinTools

@Suite("Exported pins, as their target programs read them")
struct PinExportTests {
    private static let now = POSIXTime(seconds: 1_780_272_000)

    private static func hosts() throws -> [PinnedHost] {
        let live = [try Pin("sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=").publicKeyDigest]
        let backup = [try Pin("sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM=").publicKeyDigest]
        let wide = PinnedHost(
            name: "b.example", breadth: .below, live: live, backup: backup, expires: CalendarDay("2027-12-31"), onExpiry: .reports
        )
        return [PinnedHost(name: "a.example", live: live, backup: backup), wide]
    }

    private func isDigest(_ text: String?) -> Bool { text.flatMap { Data(base64Encoded: $0) }?.count == 32 }

    @Test("curl connects to a server with the exported pin's key, and not to one with another key")
    func curlReadsIts() throws {
        let stage = try PinnedStage()
        let identity = stage.authority.identity()
        let origin = stage.serve(identity)
        func run(pinning pin: SHA256Digest) throws -> CommandLineTests.Outcome {
            var notes: [String] = []
            let spare = try Self.hosts()[0].backup
            let host = PinnedHost(name: "127.0.0.1", port: origin.port, live: [pin], backup: spare)
            let command = PinFormat.curl.written([host], at: Self.now, notes: &notes)
            return try CommandLineTests.shell(
                command.replacing("curl ", with: "curl -q -sS --max-time 30 "),
                ["CURL_CA_BUNDLE": "\(stage.folder.path)/root.pem", "PATH": "/usr/local/bin:/usr/bin:/bin", "no_proxy": "*"])
        }
        let right = try run(pinning: try PinnedStage.pin(identity))
        #expect(right.code == 0 && right.output == "secret", "\(right)")
        let count = origin.requestHeads.count
        // CURLE_SSL_PINNEDPUBKEYNOTMATCH
        #expect(try run(pinning: try PinnedStage.pin(stage.authority.identity())).code == 90)
        #expect(origin.requestHeads.count == count)
    }

    @Test("Android's configuration has only elements, attributes and values of its documentation")
    func androidKnowsIt() throws {
        var notes: [String] = []
        let text = PinFormat.androidNSC.written(try Self.hosts(), at: Self.now, notes: &notes)
        let root = try #require(try XMLDocument(xmlString: text).rootElement())
        #expect(root.name == "network-security-config")
        let known: [String: (parent: String, attributes: [String: String])] = [
            "domain-config": ("network-security-config", [:]), "domain": ("domain-config", ["includeSubdomains": "true|false"]),
            "pin-set": ("domain-config", ["expiration": "[0-9]{4}-[0-9]{2}-[0-9]{2}"]), "pin": ("pin-set", ["digest": "SHA-256"]),
        ]
        let elements = try root.nodes(forXPath: ".//*").compactMap { $0 as? XMLElement }
        #expect(elements.count == 10)
        for element in elements {
            let form = try #require(known[element.name ?? ""], "\(element)")
            #expect(element.parent?.name == form.parent)
            for attribute in element.attributes ?? [] {
                let pattern = try Regex(try #require(form.attributes[attribute.name ?? ""], "\(attribute)"))
                #expect(attribute.stringValue?.wholeMatch(of: pattern) != nil, "\(attribute)")
            }
            if element.name == "pin" { #expect(isDigest(element.stringValue)) }
        }
        // Each configuration has one pin-set and at least one domain.
        for configuration in root.elements(forName: "domain-config") {
            #expect(configuration.elements(forName: "pin-set").count == 1 && !configuration.elements(forName: "domain").isEmpty)
        }
    }

    @Test("TrustKit's property list has only keys and types of its documentation")
    func trustKitKnowsIt() throws {
        var notes: [String] = []
        let text = PinFormat.trustKit.written(try Self.hosts(), at: Self.now, notes: &notes)
        let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
        let root = try #require(list as? [String: [String: [String: Any]]])
        #expect(Set(root.keys) == ["TSKPinnedDomains"])
        let domains = try #require(root["TSKPinnedDomains"])
        #expect(Set(domains.keys) == ["a.example", "b.example"])
        for domain in domains.values {
            #expect(domain["TSKIncludeSubdomains"] is Bool && domain["TSKEnforcePinning"] is Bool)
            let hashes = try #require(domain["TSKPublicKeyHashes"] as? [String])
            #expect(hashes.count >= 2 && hashes.allSatisfy(isDigest))
            let others = Set(domain.keys).subtracting(["TSKIncludeSubdomains", "TSKEnforcePinning", "TSKPublicKeyHashes"])
            #expect(others.isSubset(of: ["TSKExpirationDate"]))
            if let day = domain["TSKExpirationDate"] as? String { #expect(day == "2028-01-01") }
        }
    }

    @Test("OkHttp's builder gets a pattern that it supports, and sha256 pins")
    func okHTTPKnowsIt() throws {
        var notes: [String] = []
        let text = PinFormat.okHTTP.written(try Self.hosts(), at: Self.now, notes: &notes)
        let grammar =
            /val certificatePinner = CertificatePinner\.Builder\(\)\n(?:    \.add\("(?:\*\*?\.)?[a-z0-9.-]+"(?:, "sha256\/[A-Za-z0-9+\/]{43}=")+\)\n)+    \.build\(\)\n/
        #expect(text.wholeMatch(of: grammar) != nil, "\(text)")
    }

    @Test("Fields of RFC 7469 follow its grammar (§2.1): one max-age, quoted pins, and a backup (§4.3)")
    func hpkpKnowsIt() throws {
        var notes: [String] = []
        let text = PinFormat.hpkp.written(try Self.hosts(), at: Self.now, notes: &notes)
        let fields = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(fields.count == 2)
        let grammar = /Public-Key-Pins: (?:pin-sha256="[A-Za-z0-9+\/]{43}="; ){2,}max-age=[0-9]+(?:; includeSubDomains)?/
        for field in fields { #expect(field.wholeMatch(of: grammar) != nil, "\(field)") }
    }
}
