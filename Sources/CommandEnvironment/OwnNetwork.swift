import CLarderLinux
import CommandSupport
import EventLoop
import Foundation
import ProxyServer

/// A network namespace that has only `lo`, and sockets in it that Larder listens on: a program in it has no other connection.
///
/// Only a process with a single thread can enter a namespace, so this binary executes itself twice. `larder enter-network --make` makes the
/// namespace, opens the sockets, sends their descriptors and exits. `larder enter-network` enters the namespace and executes the program.
package struct OwnNetwork {
    package let listener: ListeningSocket
    /// The sockets for clients that connect to origins; `nil` if they can reach only the listener.
    package let transparent: TransparentSockets?
    /// The names that have addresses, if each name has its own address.
    package let names: ReservedNames?
    /// The descriptors with which a process enters: of the user namespace, then of the network namespace.
    let namespaces: [Int32]
    /// The sockets for DNS queries, alternately for UDP and TCP.
    private let nameSockets: [Int32]
    private let hasIPv6: Bool
    /// Files to mount over the system's files in the namespace.
    private var mounts: [MountedFile] = []

    /// The executable of the helpers that make and enter the namespace: this binary.
    static let helper = "/proc/self/exe"
    /// The internal subcommand of the helpers that make and enter the namespace.
    package static let commandName = "enter-network"

    /// - Parameter folder: a folder for files that exist while the command runs.
    package init(reaching reach: NetworkReach, filesIn folder: PrivateFolder) throws(Refusal) {
        do throws(Refusal) {
            if reach != .listener { mounts = try Self.nameFiles(in: folder) }
            var sockets: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | larder_sock_cloexec, 0, &sockets) == 0 else {
                throw Refusal("socketpair", errno)
            }
            defer { close(sockets[0]) }
            let begun = Result { () throws(Refusal) in try Self.begin(handingOverTo: sockets[1], reach: reach) }
            // While this process keeps this end of the socket open, it cannot notice that the helper exits.
            close(sockets[1])
            let helper = try begun.get()
            defer { while waitpid(helper, nil, 0) < 0, errno == EINTR {} }
            try Self.mapUsers(of: helper, askedAt: sockets[0])
            var descriptors: [Int32]
            (descriptors, namespaces) = try Self.takeOver(sockets[0])
            do throws(SystemError) {
                listener = try ListeningSocket(listening: descriptors.removeFirst())
                guard reach == .everywhere else {
                    (transparent, names, nameSockets, hasIPv6) = (nil, nil, descriptors, false)
                    return
                }
                // The order of `NetworkMaking.openEverywhere`: for each address family http, https, and two sockets for DNS.
                var served: [ListeningSocket] = []
                for (index, descriptor) in descriptors.enumerated() where index % 4 < 2 {
                    served.append(try ListeningSocket(listening: descriptor))
                }
                let names = ReservedNames()
                transparent = TransparentSockets(served, names: names)
                self.names = names
                nameSockets = descriptors.enumerated().filter { $0.offset % 4 >= 2 }.map(\.element)
                hasIPv6 = descriptors.count > 4
            } catch { throw Refusal(reason: "\(error)") }
        } catch {
            throw Refusal(reason: "cannot create a network namespace for the command (--netns): \(error.reason)")
        }
    }

    /// Answers DNS queries from now on, for the life of this process.
    /// - Parameter server: the server whose active rules decide which names have addresses.
    package func serveNames(for server: ProxyServer) {
        let responder: NameResponder
        if let names {
            let hasIPv6 = hasIPv6
            responder = NameResponder {
                NameResolution(server.resolve($0, in: names), hasIPv6: hasIPv6)
            } exists: {
                server.exists($0, in: names)
            }
        } else {
            responder = NameResponder { _ in
                .addresses(ipv4: NetworkMaking.address, ipv6: nil)
            } exists: { _ in
                true
            }
        }
        for (index, socket) in nameSockets.enumerated() {
            if index % 2 == 0 { responder.serve(datagramsAt: socket) } else { responder.serve(connectionsAt: socket) }
        }
    }

    /// The same network with these files mounted over the system's, so that programs that read no variables also trust the CA certificates
    /// in these files.
    package func trusting(_ files: ClientFiles) -> OwnNetwork {
        var network = self
        network.mounts += MountedFile.trust(files)
        return network
    }

    /// The name of the variable that makes the loader load libraries into a program.
    package static let preload = "LD_PRELOAD"

    /// The helper's arguments for executing this program.
    /// - Parameter preload: the value of the variable `LD_PRELOAD` for the program.
    func words(to path: String, _ words: [[CChar]], preload: String?) -> [[CChar]] {
        var own = ["larder", Self.commandName]
        for descriptor in namespaces { own += ["--through", "\(descriptor)"] }
        if let preload { own += ["--preload", preload] }
        for mount in mounts { own += ["--file", mount.file, "--over", mount.place] }
        own += ["--", path]
        return own.map { Array($0.utf8CString) } + words
    }

    package struct Refusal: Error {
        package let reason: String

        init(reason: String) { self.reason = reason }
        init(_ call: String, _ code: Int32) { reason = "\(call): \(String(cString: strerror(code)))" }
    }

    /// Writes the files by which the C library looks up names (resolv.conf(5), hosts(5)). The names in this machine's `/etc/hosts` are
    /// looked up too: in the namespace, their addresses lead to other hosts.
    private static func nameFiles(in folder: PrivateFolder) throws(Refusal) -> [MountedFile] {
        var hosts = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"
        // Programs look up the machine's name to learn their own address.
        if let name = MountedFile.machineName { hosts += "127.0.1.1 \(name)\n" }
        let files = [
            (MountedFile.resolverPlace, "resolv.conf", "nameserver \(NetworkMaking.addressText)\n"),
            (MountedFile.hostsPlace, "hosts", hosts),
        ]
        var mounts: [MountedFile] = []
        for (place, name, text) in files {
            let path = "\(folder.path)/\(name)"
            do throws(WholeFile.Unwritten) { try folder.write(Array(text.utf8), to: path) } catch {
                throw Refusal(reason: "writing \(path): \(error.reason)")
            }
            mounts.append(MountedFile(file: path, place: place))
        }
        return mounts
    }

    /// Waits until the helper has its user namespace, and maps its users. If the helper fails, it sends the reason instead. This function
    /// leaves that reason in the socket for `takeOver`.
    private static func mapUsers(of helper: pid_t, askedAt socket: Int32) throws(Refusal) {
        var octet: UInt8 = 0
        guard recv(socket, &octet, 1, larder_msg_peek) == 1, octet == NetworkMaking.request else { return }
        _ = recv(socket, &octet, 1, 0)
        do throws(SystemError) { try UserMapping.write(for: helper) } catch {
            // If the helper is not killed, it waits for the mapping forever.
            kill(helper, SIGKILL)
            throw Refusal(reason: "\(error)\(NamespaceAdvice(error.code).clause)")
        }
        // If sending fails, the helper has ended, and `takeOver` will receive nothing.
        _ = send(socket, &octet, 1, larder_msg_nosignal)
    }

    private static func begin(handingOverTo socket: Int32, reach: NetworkReach) throws(Refusal) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var code = posix_spawn_file_actions_init(&actions)
        guard code == 0 else { throw Refusal("posix_spawn", code) }
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, socket)
        let said = ["larder", Self.commandName, "--make", "\(socket)", "--reach", reach.rawValue]
        let words = said.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        code = posix_spawn(&process, helper, &actions, nil, words, larder_variables())
        guard code == 0 else { throw Refusal("posix_spawn", code) }
        return process
    }

    /// - Returns: the sockets, the listener first, and the descriptors of the namespaces.
    private static func takeOver(_ socket: Int32) throws(Refusal) -> (sockets: [Int32], namespaces: [Int32]) {
        var octets = [CChar](repeating: 0, count: 512)
        var descriptors = [Int32](repeating: -1, count: larder_handed_limit)
        var count: Int32 = 0
        let read = larder_take_over(socket, &octets, octets.count, &descriptors, &count)
        guard read >= 0 else { throw Refusal("recvmsg", errno) }
        guard count >= 2 else {
            let reason = String(decoding: octets.prefix(read).map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw Refusal(reason: read == 0 ? "the helper process has ended" : reason)
        }
        let socketCount = Int(count) - Int(octets[0])
        return (Array(descriptors[..<socketCount]), Array(descriptors[socketCount..<Int(count)]))
    }
}
