import ProxyServer
import Testing

@testable import LarderCLI
@testable import LarderSettings

@Suite("Division of descriptors")
struct DescriptorRoomTests {
    @Test("Clients, refusals, origins and look-ups together stay within the limit", arguments: [96, 1024, 20_000, 1 << 20])
    func staysWithin(limit: Int) {
        let room = DescriptorRoom(limit: limit, origins: 1024, refusals: 256, loops: 4)
        #expect(room.clients + room.refusals + room.origins + 4 * 3 * room.lookUps <= limit)
        #expect(min(room.clients, room.refusals, room.origins, room.lookUps) >= 1)
    }

    @Test("With enough descriptors the settings' limits apply; a small limit lowers them")
    func boundsSettings() {
        var settings = ServerSettings()
        DescriptorRoom(limit: 1 << 20, origins: 1024, refusals: 256, loops: 4).bound(&settings)
        #expect(settings.connectionLimit == ServerSettings().connectionLimit)
        let small = DescriptorRoom(limit: 1024, origins: 1024, refusals: 256, loops: 4)
        small.bound(&settings)
        #expect(settings.connectionLimit == 488 && settings.refusalLimit == 122)
        #expect(ServerAssembly.budgets(LarderSettings(), atMost: small.origins).connectionLimit == 244)
    }

    @Test("Clients get the descriptors that origins and refusals do not need")
    func leavesTheRestToClients() {
        let room = DescriptorRoom(limit: 20_000, origins: 1024, refusals: 256, loops: 4)
        #expect(room.origins == 1024 && room.refusals == 256)
        #expect(room.clients == 20_000 - 48 - 2494 - 256 - 1024)
    }
}
