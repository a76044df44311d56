import HTTPMessage
import Testing

@Suite("IP addresses (RFC 4291, RFC 5952)")
struct IPAddressTests {
    @Test(
        "An address is parsed, and written in its canonical form",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
            ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
            ("::ffff:169.254.1.2", "::ffff:a9fe:102"),
            ("64:ff9b::1.2.3.4", "64:ff9b::102:304"), ("fe80::1", "fe80::1"), ("1::8", "1::8"), ("0:0:0:0:0:0:0:0", "::"),
        ])
    func readsAndWrites(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(
        "Text that is not exactly an address is rejected",
        arguments: [
            "", ".", "1.2.3", "1.2.3.4.", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4 ", ":", ":::", "1:", ":1", "1::2::3",
            "12345::",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1.2.3", "1.2.3.4::", "fe80::1%eth0", "[::1]", "g::", "1:2:3:4:5:6:7::8",
        ])
    func refuses(text: String) {
        // In the last row the gap stands for no group (RFC 4291 §2.2: one or more groups).
        #expect(IPAddress(text) == nil)
    }

    @Test(
        "A host is parsed in every spelling of IPv4 that a name lookup accepts",
        arguments: [
            ("2852039166", "169.254.169.254"), ("0xa9fea9fe", "169.254.169.254"), ("0251.0376.0251.0376", "169.254.169.254"),
            ("0xa9.254.43518", "169.254.169.254"), ("169.16689662", "169.254.169.254"), ("127.1", "127.0.0.1"), ("0", "0.0.0.0"),
            ("169.254.169.254.", "169.254.169.254"), ("::1", "::1"),
        ])
    func looseSpellings(text: String, canonical: String) {
        let address = IPAddress(asLookedUp: Array(text.utf8).span)
        #expect(address?.description == canonical)
    }

    @Test(
        "A name is not an address",
        arguments: ["localhost", "a.b", "1.2.3.4.5", "08", "4294967296", "1..2", "256.256", "1.2.3.256", "", ".", "-1"])
    func names(text: String) {
        let address = IPAddress(asLookedUp: Array(text.utf8).span)
        #expect(address == nil)
    }
}

@Suite("Address ranges (T03)")
struct AddressRangeTests {
    @Test(
        "A range contains an address in every spelling",
        arguments: [
            ("169.254.0.0/16", "169.254.169.254"), ("169.254.0.0/16", "::ffff:169.254.169.254"),
            ("169.254.0.0/16", "::169.254.169.254"),
            ("169.254.0.0/16", "64:ff9b::a9fe:a9fe"), ("169.254.0.0/16", "2002:a9fe:a9fe::1"),
            ("169.254.0.0/16", "64:ff9b:1::a9fe:a9fe"),
            ("169.254.0.0/16", "::ffff:0:a9fe:a9fe"), ("fe80::/10", "febf::1"),
            ("fd00:ec2::254", "fd00:ec2::254"), ("127.0.0.0/8", "0.0.0.0"), ("127.0.0.0/8", "::"), ("::1", "::"),
            ("0.0.0.0/0", "9.9.9.9"),
            ("::/0", "1::"), ("10.0.0.1", "10.0.0.1"), ("169.254.77.1/16", "169.254.0.1"),
        ])
    func holds(range: String, address: String) throws {
        let parsed = try #require(AddressRange(range))
        #expect(parsed.contains(try #require(IPAddress(address))))
    }

    @Test(
        "An address next to a range is outside it",
        arguments: [
            ("169.254.0.0/16", "169.255.0.0"), ("169.254.0.0/16", "169.253.255.255"), ("169.254.0.0/16", "::fffe:169.254.1.1"),
            ("fe80::/10", "fec0::1"), ("fd00:ec2::254", "fd00:ec2::255"), ("::/0", "1.2.3.4"), ("127.0.0.0/8", "128.0.0.0"),
            ("169.254.0.0/16", "::1"),
        ])
    func outside(range: String, address: String) throws {
        let parsed = try #require(AddressRange(range))
        #expect(!parsed.contains(try #require(IPAddress(address))))
    }

    @Test(
        "Invalid ranges are rejected",
        arguments: ["", "/8", "1.2.3.4/33", "::/129", "1.2.3.4/", "1.2.3.4/-1", "1.2.3.4/8x", "name/8"])
    func refuses(text: String) {
        #expect(AddressRange(text) == nil)
    }
}
