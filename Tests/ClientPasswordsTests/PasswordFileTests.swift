import HTTPMessage
import TestSupport
import Testing

@testable import ClientPasswords

@Suite("Password files")
struct PasswordFileTests {
    private static let text = """
        # who may
        alice:\(Fixtures.openSesame)

        bob:\(Fixtures.colons)\r
        jürgen:\(Fixtures.umlauts)
        long:\(Fixtures.longest)
        """

    private func file(_ text: String = text) throws -> PasswordFile { try PasswordFile(parsing: Array(text.utf8)) }

    @Test(
        "A name's password is accepted, even with colons, in UTF-8, or as long as bcrypt's limit",
        arguments: [
            ("alice:open sesame", true), ("bob:pa:ss:word", true), ("jürgen:grüß dich", true),
            ("long:" + String(repeating: "x", count: 72), true), ("alice:open sesamE", false), ("alice:", false),
            ("alice:pa:ss:word", false), ("Alice:open sesame", false), ("bob:pa", false), ("mallory:open sesame", false),
            (":open sesame", false), ("jürgen:grüß", false),
            // Bcrypt would ignore everything after the 72nd byte.
            ("long:" + String(repeating: "x", count: 73), false), ("long:" + String(repeating: "x", count: 71), false),
        ])
    func accepts(credentials: String, isGood: Bool) throws {
        #expect(try file().accepts(Fixtures.credentials(credentials)) == isGood)
    }

    @Test("A password that contains a NUL is not equal to the part before the NUL")
    func readsWhole() throws {
        // As a field would contain it; the field's parser rejects it before.
        #expect(throws: Fixtures.NoCredentials.self) { try Fixtures.credentials("alice:open sesame\0x") }
        let hash = try PasswordHash(Array(Fixtures.openSesame.utf8))
        #expect(hash.isHash(of: Array("open sesame".utf8)))
        #expect(!hash.isHash(of: Array("open sesame\0x".utf8)))
        #expect(!hash.isHash(of: Array("open sesame\0".utf8)))
    }

    @Test(
        "A line without a name and a bcrypt hash is refused; the error has its number and not its text",
        arguments: [
            ("alice", "expected `name:hash`"), ("alice:secret", "expected a bcrypt hash"),
            ("alice:$apr1$abcdefgh$abcdefghijklmnopqrstu/", "expected a bcrypt hash"),
            ("alice:{SHA}qvTGHdzF6KLavt4PO0gs2a6pQ00=", "expected a bcrypt hash"),
            ("alice:" + Fixtures.openSesame.replacing("$2y$", with: "$2x$"), "expected a bcrypt hash"),
            ("alice:" + Fixtures.openSesame + "x", "expected a bcrypt hash"),
            ("alice:" + Fixtures.openSesame.dropLast() + "!", "expected a bcrypt hash"),
            ("alice: " + Fixtures.openSesame, "expected a bcrypt hash"),
            ("alice:" + Fixtures.openSesame.replacing("$04$", with: "$15$"), "the bcrypt cost must be from 4 to 14"),
            ("alice:" + Fixtures.openSesame.replacing("$04$", with: "$03$"), "the bcrypt cost must be from 4 to 14"),
            (":" + Fixtures.openSesame, "a user name must have 1 to 255 bytes"),
            ("a\tb:" + Fixtures.openSesame, "a user name must have 1 to 255 bytes"),
            (String(repeating: "n", count: 256) + ":" + Fixtures.openSesame, "a user name must have 1 to 255 bytes"),
            ("carol:" + Fixtures.colons, "line 1 already defines this user name"),
        ])
    func refuses(line: String, reason: String) {
        do throws(PasswordFile.Faults) {
            _ = try PasswordFile(parsing: Array("carol:\(Fixtures.openSesame)\n\n\(line)\n".utf8))
            Issue.record("it was read")
        } catch {
            #expect(error.all.map(\.line) == [3])
            #expect(error.all.first?.reason.hasPrefix(reason) == true, "\(error)")
            #expect(error.all.first?.reason.contains("secret") == false)
        }
    }

    @Test("The longest name is accepted, and all bad lines are reported at once; a file without a name is refused")
    func readsLimits() throws {
        #expect(try file(String(repeating: "n", count: 255) + ":" + Fixtures.openSesame).count == 1)
        #expect(throws: PasswordFile.Faults.self) { try file("# nobody\n\n") }
        do throws(PasswordFile.Faults) {
            _ = try PasswordFile(parsing: Array("a\nb:\(Fixtures.openSesame)\nc\n".utf8))
        } catch {
            #expect(error.all.map(\.line) == [1, 3])
        }
    }

    @Test("Equal credentials have equal digests; other credentials do not, and a reload changes all digests")
    func digests() throws {
        let (one, other) = (try file(), try file())
        let credentials = try Fixtures.credentials("alice:open sesame")
        #expect(one.digest(of: credentials) == one.digest(of: credentials))
        #expect(one.digest(of: credentials) != one.digest(of: try Fixtures.credentials("alice:open sesamf")))
        #expect(one.digest(of: try Fixtures.credentials("a:b:c")) != one.digest(of: try Fixtures.credentials("a:bc:")))
        #expect(one.digest(of: credentials) != other.digest(of: credentials))
    }

    @Test("An unknown name takes as long as a known one")
    func unknownCostsTheSame() throws {
        // At this cost a verification takes tens of milliseconds: skipping it would differ by orders of magnitude, not by noise.
        let file = try file("alice:\(Fixtures.openSesame.replacing("$04$", with: "$10$"))")
        let known = try cpuTime { for _ in 0..<3 { _ = file.accepts(try Fixtures.credentials("alice:wrong")) } }
        let unknown = try cpuTime { for _ in 0..<3 { _ = file.accepts(try Fixtures.credentials("mallory:wrong")) } }
        #expect(unknown > known / 10 && known > unknown / 10, "\(known), \(unknown)")
    }
}
