import RESPWire
import Testing

@Suite("The URL of an engine")
struct EngineURLTests {
    @Test(
        "Hosts, ports and several nodes are read",
        arguments: [
            ("redis://cache", ["cache:6379"], false), ("rediss://cache:7000/", ["cache:7000"], true),
            ("redis://a:1,b:2", ["a:1", "b:2"], false), ("redis://[::1]:7000,10.0.0.1", ["[::1]:7000", "10.0.0.1:6379"], false),
        ])
    func reads(text: String, nodes: [String], isSecure: Bool) throws {
        let url = try EngineURL(text)
        #expect(url.nodes.map(\.description) == nodes && url.isSecure == isSecure)
    }

    @Test(
        "Anything else is refused, credentials too",
        arguments: [
            ("http://cache", EngineURL.Fault.scheme), ("cache:6379", .scheme), ("redis://user:secret@cache", .credentials),
            ("redis://", .host), ("redis://a,,b", .host), ("redis://a:0", .port), ("redis://a:65536", .port),
            ("redis://a:b", .port),
            ("redis://a/1", .path), ("redis://a?db=1", .path), ("redis://[::1", .host), ("redis://a b", .host),
        ])
    func refuses(text: String, fault: EngineURL.Fault) { #expect(throws: fault) { try EngineURL(text) } }
}
