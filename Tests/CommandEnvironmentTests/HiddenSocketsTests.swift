import CLarderLinux
import Foundation
import TestSupport
import Testing

@testable import CommandEnvironment

@Suite("Unix sockets that a command in its own network namespace does not see")
struct HiddenSocketsTests {
    /// Opens a Unix socket at this path.
    private static func open(_ path: String) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let octets = Array(path.utf8)
        try #require(octets.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        let descriptor = socket(AF_UNIX, larder_sock_stream | larder_sock_cloexec, 0)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        return descriptor
    }

    @Test("Sockets of known services in the user's folders and in variables are hidden; other sockets and other files stay")
    func findsSockets() throws {
        let folder = try TemporaryFolder()
        // Characters of patterns have no meaning in a folder's name.
        let home = "\(folder.path)/[h]*"
        let hidden = [
            "run/bus", "run/systemd/private", "run/podman/podman.sock", "run/buildkit/buildkitd.sock",
            "run/larder/admin-3180.sock",
            "run/gnupg/S.dirmngr", ".local/state/larder/admin-3180.sock", "engine", "tmux", "own.bus",
        ]
        let visible = ["run/wayland-0", "run/keyring/ssh", "run/systemd/notify", "agent", "run/gnupg/S.gpg-agent"]
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        for path in hidden + visible {
            let place = "\(home)/\(path)"
            try FileManager.default.createDirectory(
                atPath: String(place[..<place.lastIndex(of: "/")!]), withIntermediateDirectories: true)
            descriptors.append(try Self.open(place))
        }
        // A file with the name of a socket.
        try Data().write(to: URL(filePath: "\(home)/run/docker.sock"))
        let environment = [
            "HOME": home, "XDG_RUNTIME_DIR": "\(home)/run", "DOCKER_HOST": "unix://\(home)/engine", "TMUX": "\(home)/tmux,77,0",
            "DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/x;unix:path=\(home)/own.bus,guid=77", "SSH_AUTH_SOCK": "\(home)/agent",
        ]
        let found = HiddenSockets.paths(environment).filter { $0.hasPrefix(folder.path) }
        #expect(found == Set(hidden.map { "\(home)/\($0)" }))
    }

    @Test(
        "Sockets are found in variables in each form that programs write",
        arguments: [
            ("unix:path=/run/user/1/bus,guid=7;unix:path=/b", ["/run/user/1/bus", "/b"]), ("unix:abstract=/tmp/dbus-1", []),
            ("unix:///run/docker.sock", ["/run/docker.sock"]), ("tcp://127.0.0.1:2375", []), ("ssh://host", []),
            ("/tmp/tmux-0/default,77,0", ["/tmp/tmux-0/default"]), ("unix:/tmp/kitty", ["/tmp/kitty"]), ("unix:@kitty", []),
            ("", []),
        ])
    func readsVariables(text: String, paths: [String]) { #expect(HiddenSockets.places(in: text) == paths) }
}
