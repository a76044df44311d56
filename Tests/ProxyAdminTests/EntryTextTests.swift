import ResponseStore
import Testing

@testable import ProxyAdmin

@Suite("Texts about entries")
struct EntryTextTests {
    @Test(
        "Sizes are shown with one decimal, even the largest number",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_048_575, "1023.9 KiB"), (1_048_576, "1.0 MiB"),
            (3 << 30, "3.0 GiB"), (UInt64.max / 10 + 1, "1677721.6 TiB"), (.max, "16777215.9 TiB"),
        ])
    func saysSizes(count: UInt64, text: String) {
        #expect(EntryText.size(count) == text)
    }

    @Test("Sums of lengths that overflow are the largest number")
    func addsUp() {
        #expect(UInt64.max.addingUpToMax(1) == .max)
        #expect((UInt64.max - 1).addingUpToMax(1) == .max)
        #expect(UInt64(1).addingUpToMax(2) == 3)
    }

    @Test("Bytes of a stored response are written to JSON with control characters, quotes and non-ASCII bytes escaped")
    func quotes() {
        var output: [UInt8] = []
        EntryText.append(quoted: [0x22, 0x5C, 0x20, 0x0A, 0x7F, 0xC3, 0x61], into: &output)
        #expect(String(decoding: output, as: UTF8.self) == #""\"\\ %0A%7F%C3a""#)
    }

    @Test(
        "Status codes of a filter have three digits", arguments: ["万xx", "億xx", "٣xx", "6xx", "99", "+20", "200-99999", "1xx,"])
    func refusesStatuses(text: String) {
        var filter = StoreFilter()
        let fits = filter.set(.status, to: text)
        #expect(!fits)
    }
}
