import Foundation
import Testing

@testable import Reachability

@Suite("The kind of a link")
struct LinkKindTests {
    private static func link(_ name: String, hardware: UInt16 = 1, making: String = "") -> Link {
        Link(index: 7, name: name, hardware: hardware, making: making, isLoopback: false, isRunning: true)
    }

    @Test(
        "From the kernel's hardware type and link type alone",
        arguments: [
            (hardware: UInt16(1), making: "", kind: InterfaceKind.wired), (1, "veth", .wired), (1, "bridge", .wired),
            (1, "vlan", .wired),
            (1, "tun", .other), (1, "vxlan", .other), (65_534, "wireguard", .other), (512, "ppp", .other), (519, "", .cellular),
            (65_534, "wwan", .cellular),
        ])
    func byHardware(hardware: UInt16, making: String, kind: InterfaceKind) {
        #expect(LinkKind.kind(of: Self.link("x0", hardware: hardware, making: making), folder: "/nowhere") == kind)
    }

    @Test(
        "From the driver's `uevent` file in /sys, if that file is about the same link",
        arguments: [
            ("INTERFACE=x0\nIFINDEX=7\nDEVTYPE=wlan\n", InterfaceKind.wireless),
            ("DEVTYPE=wwan\nINTERFACE=x0\nIFINDEX=7\n", .cellular),
            ("INTERFACE=x0\nIFINDEX=7\n", .wired), ("DEVTYPE=wlan\nINTERFACE=x0\nIFINDEX=8\n", .wired), ("", .wired),
            (String(repeating: "x", count: 5000) + "\nDEVTYPE=wlan\nIFINDEX=7\n", .wired),
        ])
    func byDriver(text: String, kind: InterfaceKind) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "larder-links-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }  // an error leaves a folder in the temporary directory
        try FileManager.default.createDirectory(at: folder.appending(path: "x0"), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appending(path: "x0/uevent"))
        #expect(LinkKind.kind(of: Self.link("x0"), folder: folder.path) == kind)
        #expect(LinkKind.kind(of: Self.link("../x0"), folder: folder.path) == .wired)
        #expect(LinkKind.kind(of: Self.link("..", making: "tun"), folder: folder.path) == .other)
    }
}
