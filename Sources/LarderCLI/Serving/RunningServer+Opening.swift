import ArgumentParser
import EventLoop
import Foundation
import LarderSettings
import Logging
import ProxyServer
import ResponseStore

/// What a server opens before it serves: the store and the sockets.
extension RunningServer {
    /// If another process has the store's file open, this process opens it as a read-only backing store for memory. If that fails,
    /// responses are stored in memory alone.
    static func openStore(
        _ plan: ServingPlan, _ logger: Logger
    ) throws(ExitCode) -> (store: ResponseStore, remark: String?) {
        func open(_ path: String, _ access: StoreConfiguration.Access) throws(StoreError) -> ResponseStore {
            var configuration = ServerAssembly.store(plan.settings, path: path) {
                // Logged as an error because a run logs only errors, and its user must know the new place of the store.
                if case .movedAside = $0 { return logger.error("\(StoreNotices.text($0))") }
                logger.warning("\(StoreNotices.text($0))")
            }
            configuration.access = access
            return try ResponseStore(configuration)
        }
        do throws(StoreError) {
            return (try open(plan.storePath, .owned), nil)
        } catch {
            guard plan.mayForgetWhatIsNew else {
                let remedy =
                    switch error.code {
                    case .lockedByProcess: "; give this one its own store (--store FILE), or none (--store :memory:)"
                    case .cannotOpen: "; set another path for the store (--store FILE), or use none (--store :memory:)"
                    default: ""
                    }
                logger.error("cannot open the store: \(error)\(remedy)")
                throw ExitCode.failure
            }
            // If this fails, responses are stored in memory alone.
            if let backing = try? open(plan.storePath, .readOnlyBackingStore) {
                return (backing, "the store is opened read-only, and new responses are kept in memory only: \(error)")
            }
            if let alone = try? open(":memory:", .owned) { return (alone, "new responses are kept in memory only: \(error)") }
            logger.error("cannot open the store: \(error)")
            throw ExitCode.failure
        }
    }

    /// Listens on the sockets, which are already bound: `bind` is called before the store is opened, so that a port in use is reported
    /// first.
    static func listen(_ sockets: [ListeningSocket], _ logger: Logger) throws(ExitCode) {
        for socket in sockets {
            do throws(SystemError) {
                try socket.listen()
            } catch {
                logger.error("cannot listen on \(socket.address): \(String(cString: strerror(error.code)))")
                throw ExitCode.failure
            }
        }
    }

    /// The default IPv6 address is omitted on a machine that does not support it; an address that the settings name must work.
    /// - Parameter passed: sockets for some of the addresses.
    static func bind(
        _ addresses: [ListenAddress], passed: [ListeningSocket], _ logger: Logger
    ) throws(ExitCode) -> [ListeningSocket] {
        var sockets: [ListeningSocket] = []
        var passed = passed
        for address in addresses {
            if let index = passed.firstIndex(where: { $0.isFor(address) }) {
                sockets.append(passed.remove(at: index))
                continue
            }
            do throws(SystemError) {
                sockets.append(try ListeningSocket(binding: "\(address.address)", port: address.port))
            } catch {
                let reason = String(cString: strerror(error.code))
                let isMissingIPv6 = error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT
                if isMissingIPv6, addresses == ListenAddress.defaults, address.address.family == .ipv6 {
                    logger.notice("no IPv6 on this machine: not listening on \(address)")
                    continue
                }
                logger.error("cannot listen on \(address): \(reason)")
                for socket in sockets { socket.close() }
                throw ExitCode.failure
            }
        }
        if let other = passed.first {
            logger.error("the service manager passed a socket for \(other.address), which the setting listen does not name")
            throw ExitCode.failure
        }
        return sockets
    }
}

extension ListeningSocket {
    fileprivate func isFor(_ other: ListenAddress) -> Bool { address.address == other.address && address.port == other.port }
}
