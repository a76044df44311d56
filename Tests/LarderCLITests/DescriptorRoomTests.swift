import ProxyServer
import Testing

@testable import LarderCLI

@Suite("How descriptors are shared out")
struct DescriptorRoomTests {
    @Test("Clients, refusals and origins together stay within the limit", arguments: [64, 96, 1024, 1 << 20])
    func staysWithin(limit: Int) {
        let room = DescriptorRoom(limit: limit)
        #expect(room.clients + room.refusals + room.origins < limit)
        #expect(min(room.clients, room.refusals, room.origins) >= 1)
    }

    @Test("Where there is room enough, the limits are those of the settings; a small one lowers them")
    func boundsSettings() {
        var settings = ServerSettings()
        DescriptorRoom(limit: 1 << 20).bound(&settings)
        #expect(settings.connectionLimit == ServerSettings().connectionLimit)
        DescriptorRoom(limit: 1024).bound(&settings)
        #expect(settings.connectionLimit == 488 && settings.refusalLimit == 122)
        #expect(ServerAssembly.budgets(LarderSettings(), atMost: DescriptorRoom(limit: 1024).origins).connectionLimit == 244)
    }
}
