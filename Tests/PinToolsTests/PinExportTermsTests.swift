import CommandSupport
import ServerTrust
import Testing

@testable import LarderSettings
@testable import PinTools

@Suite("Pins for other programs, at a given time")
struct PinExportTermsTests {
    private static let now = POSIXTime(seconds: 1_780_272_000)  // 2026-06-01
    private static let digest = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="

    private static func host(_ change: (inout PinnedHost) -> Void) throws -> PinnedHost {
        var host = PinnedHost(name: "a.example", live: [try Pin("sha256/\(digest)").publicKeyDigest])
        change(&host)
        return host
    }

    private static func written(_ format: PinFormat, _ host: PinnedHost) -> (text: String, notes: [String]) {
        var notes: [String] = []
        let text = format.written([host], at: now, notes: &notes)
        return (text, notes.filter { !$0.contains("requires a backup") })
    }

    @Test("Pins whose day of enforcement has come are enforced", arguments: PinFormat.allCases)
    func enforcesFromTheDay(format: PinFormat) throws {
        let enforced = Self.written(format, try Self.host { _ in })
        let since = Self.written(
            format,
            try Self.host {
                $0.isReportOnly = true
                $0.enforcedFrom = CalendarDay("2026-06-01")
            })
        #expect(since == enforced)
    }

    @Test("A future day of enforcement is kept in JSON, and reported for other formats")
    func tellsTheDay() throws {
        let host = try Self.host {
            $0.isReportOnly = true
            $0.enforcedFrom = CalendarDay("2026-06-02")
        }
        let json = Self.written(.json, host)
        #expect(json.notes.isEmpty)
        var notes: [String] = []
        #expect(try PinFormat.json.read(json.text, host: nil, notes: &notes) == [host])
        #expect(PinnedHost.settings([host]).contains("enforce_from: 2026-06-02"))
        for format in [PinFormat.trustKit, .hpkp] {
            let note = "a.example is written as report-only, because the format has no `enforce_from` (2026-06-02)"
            #expect(Self.written(format, host).notes == [note])
        }
    }

    @Test(
        "An expiry is never written as one that disables the pins, and never dropped silently",
        arguments: [
            (
                .hpkp, "2026-12-31", .fails, "max-age=5184000",
                "is written without its expiry, because pins in this format have no effect after their expiry"
            ),
            (
                .hpkp, "2026-01-01", .fails, "max-age=5184000",
                "is written without its expiry, because pins in this format have no effect after their expiry"
            ),
            (.hpkp, "2026-01-01", .reports, "Public-Key-Pins-Report-Only", nil),
            (.okHTTP, "2026-12-31", .fails, ".add(", "is written without its expiry, because the format has no expiry"),
            (.curl, "2026-12-31", .reports, "--pinnedpubkey", "is written without its expiry, because the format has no expiry"),
            (.curl, "2026-01-01", .reports, "", "is left out: the format has no report-only pins"),
        ] as [(PinFormat, String, PinSet.Expiry, String, String?)])
    func tellsEnds(format: PinFormat, day: String, onExpiry: PinSet.Expiry, part: String, note: String?) throws {
        let host = try Self.host {
            $0.expires = CalendarDay(day)
            $0.onExpiry = onExpiry
        }
        let written = Self.written(format, host)
        #expect(part.isEmpty ? written.text.isEmpty : written.text.contains(part))
        #expect(written.notes == [note.map { "a.example \($0)" }].compactMap { $0 })
    }

    @Test("Pinned certificates are exported as their keys, and this is reported")
    func tellsCertificates() throws {
        let written = Self.written(.json, try Self.host { $0.pinsCertificates = true })
        #expect(
            written.notes == [
                "a.example pins certificates, but this format has only keys: the file pins the keys of these certificates"
            ])
    }
}
