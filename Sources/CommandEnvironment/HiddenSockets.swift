import CLarderLinux
import Foundation

/// Unix sockets of programs that could send or look up data for the command, outside its network namespace. A socket with a path is
/// reachable from every network namespace, so Larder mounts `/dev/null` over these sockets. Abstract sockets belong to the network
/// namespace.
///
/// This is the only list of these sockets. It names the usual places; sockets in other places, and sockets that are created later, stay
/// reachable.
enum HiddenSockets {
    private struct Service {
        /// What a client of these sockets can do outside the network namespace.
        let reason: String
        /// Patterns (glob(7)) for sockets in `/run`.
        var system: [String] = []
        /// Patterns for sockets in the folder of a user's run-time files.
        var user: [String] = []
        /// Patterns with whole paths; `~` is the home folder.
        var others: [String] = []
        /// Variables that name a socket.
        var variables: [String] = []
    }

    private static let services = [
        Service(
            reason: "a message bus starts services that download files and look up names",
            system: ["dbus/system_bus_socket"], user: ["bus", "dbus-1/*"],
            variables: ["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"]),
        Service(
            reason: "systemd starts units, downloads images, and configures networks",
            system: ["systemd/private", "systemd/io.systemd.*", "systemd/machine/io.systemd.*", "systemd/netif/io.systemd.*"],
            user: ["systemd/private", "systemd/io.systemd.*"]),
        Service(
            reason: "a resolver looks up names",
            system: [
                "systemd/resolve/io.systemd.*", "nscd/socket", "avahi-daemon/socket", "dnsmasq/*.sock", "unbound.ctl",
            ]),
        Service(
            reason: "a container engine pulls images, and starts containers with a network",
            system: [
                "docker.sock", "docker/*.sock", "cri-dockerd.sock", "containerd/*.sock*", "k3s/containerd/*.sock*", "crio/*.sock",
                "buildkit/*.sock", "podman/*.sock", "libpod/*.sock",
            ],
            user: [
                "docker.sock", "docker/*.sock", "containerd/*.sock*", "containerd-rootless/*.sock", "buildkit/*.sock",
                "buildkit-*/*.sock", "podman/*.sock",
            ],
            others: ["~/.docker/run/*.sock", "~/.docker/desktop/*.sock", "~/.colima/*/*.sock", "~/.rd/*.sock"],
            variables: ["DOCKER_HOST", "CONTAINER_HOST", "CONTAINERD_ADDRESS", "BUILDKIT_HOST"]),
        Service(
            reason: "a virtual machine manager starts machines that have a network",
            system: ["libvirt/*-sock*"], user: ["libvirt/*-sock*"],
            others: ["/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket", "/var/lib/incus/unix.socket"]),
        Service(
            reason: "a system service downloads packages or keys, connects to networks or prints",
            system: [
                "snapd.socket", "snapd-snap.socket", "tailscale/tailscaled.sock", "NetworkManager/private*", "cups/cups.sock",
                "chrony/chronyd.sock",
            ],
            user: ["gnupg/S.dirmngr", "gnupg/*/S.dirmngr"], others: ["~/.gnupg/S.dirmngr"]),
        Service(
            reason: "a terminal or an editor outside the network namespace runs commands",
            system: ["screen/S-*/*", "tmux/*/*"],
            user: ["tmux-*/*", "zellij/*/*", "wezterm/*sock*", "kitty-*", "emacs/*", "nvim.*", "vscode-ipc-*.sock"],
            others: ["/tmp/tmux-*/*", "/tmp/zellij-*/*/*", "/tmp/emacs*/*", "/tmp/nvim.*/*/*", "/tmp/vscode-ipc-*.sock"],
            variables: ["TMUX", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "NVIM", "VSCODE_IPC_HOOK_CLI"]),
        Service(
            reason: "another Larder forwards requests under its own rules, and its clients can change these rules",
            system: ["larder/admin-*.sock"], user: ["larder/admin-*.sock"], others: ["~/.local/state/larder/admin-*.sock"]),
    ]

    /// - Parameter environment: the command's.
    /// - Returns: the sockets that exist, each once.
    static func paths(_ environment: [String: String]) -> Set<String> {
        // The folders of all users, because root can become any user.
        var folders = ["/run/user/*"]
        for variable in ["XDG_RUNTIME_DIR", "TMUX_TMPDIR"] {
            if let folder = environment[variable], folder.hasPrefix("/") { folders.append(literal(folder)) }
        }
        var patterns: [String] = []
        for service in services {
            patterns += service.system.map { "/run/\($0)" }
            patterns += folders.flatMap { folder in service.user.map { "\(folder)/\($0)" } }
            for other in service.others {
                guard other.hasPrefix("~") else {
                    patterns.append(other)
                    continue
                }
                if let home = environment["HOME"], home.hasPrefix("/") { patterns.append(literal(home) + other.dropFirst()) }
            }
            patterns += service.variables.flatMap { places(in: environment[$0] ?? "") }.map(literal)
        }
        // The admin sockets of Larder, if the user's state folder is not the usual one.
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            patterns.append("\(literal(state))/larder/admin-*.sock")
        }
        return Set(patterns.flatMap(matches).filter(isSocket))
    }

    /// The paths in a variable: `/path`, `unix:///path`, `unix:path=/path,guid=…` (D-Bus), or `/path,1234,0` (tmux).
    static func places(in text: String) -> [String] {
        text.split { ";,".contains($0) }.compactMap { part in
            let forms = ["unix:path=", "unix://", "unix:", ""]
            guard let form = forms.first(where: { part.hasPrefix($0) }), part.dropFirst(form.count).first == "/" else {
                return nil
            }
            return String(part.dropFirst(form.count))
        }
    }

    /// A pattern that matches this path only.
    private static func literal(_ path: String) -> String {
        String(path.flatMap { "*?[\\".contains($0) ? ["\\", $0] : [$0] })
    }

    private static func matches(_ pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, GLOB_NOSORT, nil, &found) == 0, let paths = found.gl_pathv else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { paths[$0].map { String(cString: $0) } }
    }

    private static func isSocket(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    }
}
