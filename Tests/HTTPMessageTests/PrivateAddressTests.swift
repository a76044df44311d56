import Testing

@testable import HTTPMessage

@Suite("Addresses that are not public (RFC 6890), and addresses that are allowed")
struct PrivateAddressTests {
    @Test(
        "An address that is not public is recognized in each form",
        arguments: [
            "0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.255", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "100.64.0.1", "100.127.255.255", "169.254.1.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255", "::", "::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
            "64:ff9b:1::808:808",
            // The IPv4 address in: mapped, compatible, translated, NAT64, 6to4.
            "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::10.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1",
            "2002:a00:1::1", "2002:c0a8:101::",
            // Teredo, by its server (10.0.0.1) and by its client (192.168.0.1, inverted).
            "2001:0:a00:1:0:0:f7f7:f7f7", "2001:0:808:808:0:0:3f57:fffe",
        ])
    func recognizesPrivate(text: String) throws {
        #expect(try #require(IPAddress(text)).reaches(AddressRange.privateNetworks))
    }

    @Test(
        "A public address is recognized as public in each form",
        arguments: [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
            "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
            "2606:4700::1111", "2a00::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2001:0:808:808:0:0:f7f7:f7f7",
            "2001:4860::8888",
        ])
    func leavesPublic(text: String) throws {
        #expect(try !#require(IPAddress(text)).reaches(AddressRange.privateNetworks))
    }

    @Test(
        "An entry allows its addresses at its port",
        arguments: [
            ("10.1.2.3", "10.1.2.3", 80, true), ("10.1.2.3", "10.1.2.4", 80, false), ("10.1.2.3:5432", "10.1.2.3", 5432, true),
            ("10.1.2.3:5432", "10.1.2.3", 5433, false), ("10.0.0.0/8", "10.200.0.1", 1, true),
            ("10.0.0.0/8:80", "10.2.0.1", 80, true),
            ("10.0.0.0/8:80", "10.2.0.1", 81, false), ("fd00::1", "fd00::1", 80, true), ("[fd00::1]:443", "fd00::1", 443, true),
            ("[fd00::1]:443", "fd00::1", 80, false), ("[fd00::/16]:443", "fd00:1::", 443, true),
            ("[fd00::1]", "fd00::1", 9, true),
            // The kernel connects to a mapped address as IPv4. Other forms may lead elsewhere.
            ("10.1.2.3", "::ffff:10.1.2.3", 80, true), ("10.1.2.3", "64:ff9b::10.1.2.3", 80, false),
            ("10.1.2.3", "2002:a01:203::", 80, false), ("127.0.0.1", "0.0.0.0", 80, false),
            // Only an exact address allows a metadata service.
            ("169.254.169.254", "169.254.169.254", 80, true), ("169.254.0.0/16", "169.254.169.254", 80, false),
            ("0.0.0.0/0", "100.100.100.200", 80, false), ("0.0.0.0/0", "100.100.100.201", 80, true),
            ("fd00::/8", "fd00:ec2::254", 80, false), ("fd00:ec2::254", "fd00:ec2::254", 80, true),
        ])
    func allows(entry: String, address: String, port: Int, isAllowed: Bool) throws {
        let entry = try #require(AllowedAddress(entry))
        #expect(entry.allows(try #require(IPAddress(address)), port: UInt16(port)) == isAllowed)
    }

    @Test(
        "An entry is written as it was read",
        arguments: [
            "10.1.2.3", "10.1.2.3:5432", "10.0.0.0/8", "10.0.0.0/8:80", "fd00::1", "fd00::/8", "[fd00::1]:443", "[fd00::/8]:443",
        ])
    func writes(text: String) { #expect(AllowedAddress(text)?.description == text) }

    @Test(
        "An invalid entry is rejected",
        arguments: [
            "", ":", ":80", "10.1.2.3:", "10.1.2.3:0", "10.1.2.3:65536", "10.1.2.3:x", "10.1.2:80", "[10.1.2.3]:80", "[fd00::1",
            "[fd00::1]443", "[fd00::1]:", "a.example", "a.example:80", "[]:80", "10.0.0.0/33",
        ])
    func rejects(text: String) { #expect(AllowedAddress(text) == nil) }
}
