import ArgumentParser
import EventLoop
import Foundation
import HTTPMessage
import LarderSettings
import ProxyAdmin
import ProxyServer

/// The page's listener of a running server.
final class RunningPage: Sendable {
    struct Open: Sendable {
        let server: AdminServer
        let access: PageAccess
        let address: PeerAddress
    }

    /// For listeners that open later.
    let limits = Guarded(AdminLimits.ofPage)
    private let state = Guarded<Open?>(nil)

    var open: Open? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// Opens and closes the page's listener. Every change runs within `inTurn`, so that no two changes overlap.
extension RunningServer {
    /// The address at which the page is open.
    var pageAddress: ListenAddress? { page.open.map { ListenAddress(address: $0.address.address, port: $0.address.port) } }

    /// Serves the page at the address of `admin.listen`, until Larder ends.
    /// - Parameter samples: whether the page's thread takes the samples for charts, because there is no admin socket.
    func servePage(on socket: ListeningSocket, _ plan: ServingPlan, samples: Bool) throws(ExitCode) {
        do throws(SystemError) {
            let (history, server) = (history, server)
            try serve(socket, plan, alongside: { if samples { HistorySampler.start(history, server, on: $0) } })
        } catch {
            log.logger.error("admin.listen is not available: \(error)")
            throw ExitCode.failure
        }
    }

    /// Opens the page's listener if it is not open, and makes a link.
    /// - Parameter ended: called with the outcome, on another thread.
    func openPage(_ plan: ServingPlan, _ ended: @escaping @Sendable (PageRoute.Outcome) -> Void) {
        inTurn(
            {
                if self.isStopping { return .refused(reason: "Larder is stopping.") }
                do throws(SystemError) {
                    if self.page.open == nil { try self.openListener(plan) }
                } catch {
                    return .refused(reason: "Larder cannot open a port for the page: \(error)")
                }
                guard let open = self.page.open else { return .refused(reason: "Larder cannot open a port for the page.") }
                let link = open.access.makeLink(at: .read())
                // A new link restarts the time after which Larder closes an unused listener.
                open.server.watchUse()
                return .link(url: link.url, lifetimeMilliseconds: link.lifetimeMilliseconds)
            }, ended)
    }

    private func openListener(_ plan: ServingPlan) throws(SystemError) {
        let socket = try ListeningSocket(binding: "127.0.0.1", port: 0)
        // The proxy must refuse requests to the port before a client can connect to it.
        changeOtherListeners { $0.append(socket.address) }
        do throws(SystemError) {
            try socket.listen()
            do throws(SystemError) {
                try serve(socket, plan, unused: { self.closePage(ifUnused: socket.address) })
            } catch {
                socket.close()
                throw error
            }
        } catch {
            changeOtherListeners { $0.removeAll { $0 == socket.address } }
            throw error
        }
    }

    private func serve(
        _ socket: ListeningSocket, _ plan: ServingPlan, unused: (@Sendable () -> Void)? = nil,
        alongside: @escaping @Sendable (EventLoop) -> Void = { _ in }
    ) throws(SystemError) {
        let logger = log.logger
        let address = ListenAddress(address: socket.address.address, port: socket.address.port)
        let host = address.description.dropLast("\(address.port)".count + 1)
        let access = PageAccess(host: String(host), port: address.port, pseudonym: pseudonym)
        let server = try AdminServer(
            page: socket, access: access, routes: routes(plan), limits: page.limits.withLock { $0 }, unused: unused,
            alongside: alongside,
            warn: { logger.warning("\($0)") })
        keep(server)
        page.open = RunningPage.Open(server: server, access: access, address: socket.address)
    }

    /// Closes the listener that was opened for `larder ui`, unless a link to it was made in the meantime.
    func closePage(ifUnused address: PeerAddress) {
        inTurn({ () -> Void in
            guard let open = self.page.open, open.address == address, !self.isStopping else { return }
            if open.access.hasLink(at: .read()) { return open.server.watchUse() }
            self.page.open = nil
            self.end(open.server)
            self.changeOtherListeners { $0.removeAll { $0 == address } }
            self.log.logger.notice("closed the port of the page, because the page was not used")
        }) { _ in }
    }

    private func changeOtherListeners(_ change: (inout [PeerAddress]) -> Void) {
        let listeners = otherListeners.withLock { listeners in
            change(&listeners)
            return listeners
        }
        server.replaceOtherListeners(listeners)
    }
}
