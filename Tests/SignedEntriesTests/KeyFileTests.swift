import HTTPMessage
import Testing

@testable import SignedEntries

@Suite("Shared entries: key files")
struct KeyFileTests {
    private let later = TestFarm.now.advanced(seconds: 86_400)

    @Test("Farm keys are the same after they were written and read")
    func farmKeys() throws {
        let keys = FarmKeys(farm: FarmID(), keys: [FarmKey.new(start: later), FarmKey.new(start: TestFarm.now)])!
        let read = try KeyFiles.farmKeys(Array(KeyFiles.text(keys).utf8))
        #expect(read.farm == keys.farm)
        #expect(read.keys.map(\.id) == keys.keys.map(\.id))
        #expect(read.keys.map(\.start) == [TestFarm.now, later])
        #expect(read.current(at: TestFarm.now).id == keys.keys[0].id)
        #expect(read.current(at: later).id == keys.keys[1].id)
        #expect(read.former(at: later)?.id == keys.keys[0].id)
        #expect(read.current(at: TestFarm.now.advanced(seconds: -1)).id == keys.keys[0].id)
        let names = [keys, read].map { EntryNames($0).name(of: [1], at: TestFarm.now) }
        #expect(names[0] == names[1])
    }

    @Test("Signing keys are the same after they were written and read")
    func signingKeys() throws {
        let keys = EntrySigningKeys([EntrySigningKey.new(start: TestFarm.now)!, EntrySigningKey.new(start: later)!])!
        let read = try KeyFiles.signingKeys(Array(KeyFiles.text(keys)!.utf8))
        #expect(read.keys.map(\.publicKey) == keys.keys.map(\.publicKey))
        #expect(read.current(at: TestFarm.now).id == keys.keys[0].id)
        #expect(read.current(at: later).id == keys.keys[1].id)
        // What a key signs that was read, a reader of the first key opens.
        let farm = TestFarm(keys: TestFarm().keys, signing: keys)
        let writer = TestFarm(keys: farm.keys, signing: read)
        let response = TestFarm.response()
        let sealed = try writer.sealed(TestFarm.entry(response))
        #expect(farm.opener().rejection(sealed.bytes, TestFarm.expectation(of: response)) == nil)
    }

    @Test("Trusted and revoked keys are the same after they were written and read")
    func trustedKeys() throws {
        let (first, second) = (EntrySigningKey.new(start: later)!, EntrySigningKey.new(start: later)!)
        let trusted = TrustedSigners(
            [.init(publicKey: first.publicKey, label: "builder-1"), .init(publicKey: second.publicKey, label: "")],
            revoked: [second.id])
        let read = try KeyFiles.trustedSigners(Array(KeyFiles.text(trusted).utf8))
        #expect(read.signers == trusted.signers)
        #expect(try read.signer(first.id).label == "builder-1")
        #expect(throws: EntryRejection.revokedSigner) { _ = try read.signer(second.id) }
        #expect(throws: EntryRejection.unknownSigner) { _ = try read.signer(EntrySigningKey.new(start: later)!.id) }
    }

    @Test(
        "A wrong key file names its line, and no message contains a key",
        arguments: [
            ("", 1), ("larder-farm-key 2\n", 1), ("larder-signing-key 1\n", 1),
            ("# a\n\nlarder-farm-key 1\nkey SECRET from x\n", 4),
            ("larder-farm-key 1\nfarm SECRET\n", 2), ("larder-farm-key 1\nfarm 00112233445566778899aabbccddeeff\n", 1),
            ("larder-farm-key 1\nfarm 00112233445566778899aabbccddeeff\nfarm 00112233445566778899aabbccddeeff\n", 3),
            ("larder-farm-key 1\nfarm 00112233445566778899aabbccddeeff\nkey U0VDUkVU from 2026-11-29T07:00:00Z\n", 3),
            ("larder-farm-key 1\nfarm 00112233445566778899aabbccddeeff\nkey U0VDUkVU\n", 3),
            ("larder-farm-key 1\nSECRET\n", 2),
        ])
    func faults(row: (text: String, line: Int)) {
        do throws(KeyFileFault) {
            _ = try KeyFiles.farmKeys(Array(row.text.utf8))
            Issue.record("the file was read")
        } catch {
            #expect(error.line == row.line)
            #expect(!error.reason.contains("SECRET") && !error.reason.contains("U0VDUkVU"))
        }
    }

    @Test(
        "A trusted key must be a public key, and a revoked one an id",
        arguments: [
            "larder-trusted-keys 1\ntrust AAAA", "larder-trusted-keys 1\nrevoke 00", "larder-trusted-keys 1\ntrust",
            "larder-trusted-keys 1\nrevoke 00112233445566778899aabbccddeeff twice",
        ])
    func trustedFaults(text: String) {
        #expect(throws: KeyFileFault.self) { _ = try KeyFiles.trustedSigners(Array(text.utf8)) }
    }

    @Test("Descriptions of keys contain no secret")
    func descriptions() {
        let farm = FarmKey.new(start: later)
        let signing = EntrySigningKey.new(start: later)!
        #expect("\(farm)" == "farm key \(farm.id)")
        #expect("\(signing)" == "signing key \(signing.id)")
        for text in ["\(farm)", String(reflecting: farm.description)] { #expect(!text.contains(Base64.encode(farm.secret))) }
    }
}
