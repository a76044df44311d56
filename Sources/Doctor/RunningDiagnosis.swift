import CommandEnvironment
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings

/// Checks that use the running Larder.
package struct RunningDiagnosis {
    let running: ClientEnvironment
    let origin: TrialOrigin
    /// Whether the running Larder uses an upstream proxy. If so, the test request is not sent, because the upstream proxy would receive
    /// it.
    let hasUpstreamProxy: Bool
    let edit: String?

    package init(running: ClientEnvironment, origin: TrialOrigin, hasUpstreamProxy: Bool, edit: String?) {
        self.running = running
        self.origin = origin
        self.hasUpstreamProxy = hasUpstreamProxy
        self.edit = edit
    }

    /// Checks whether the running Larder accepts a request and forwards it to a server.
    package func findings() -> [Finding] {
        let connection: Int32
        switch Self.connected(running.proxy) {
        case .success(let descriptor): connection = descriptor
        case .failure(let code):
            let reason = String(cString: strerror(code.number))
            return [
                Finding("port", .bad, "\(running.proxy) does not respond: \(reason)", remedy: "larder stop; larder serve &"),
                Finding("request", .skipped, "the port does not respond"),
            ]
        }
        defer { close(connection) }
        let port = Finding("port", .good, "\(running.proxy) answers")
        guard !hasUpstreamProxy else {
            let reason =
                "larder doctor tries no programs, because their test requests would leave this machine through upstream.proxy"
            return [port, Finding("request", .skipped, reason)]
        }
        return [port, request(on: connection)]
    }

    private func request(on connection: Int32) -> Finding {
        let url = "http://\(TriedClient.host):\(origin.port)/request/"
        let head = "GET \(url) HTTP/1.1\r\nHost: \(TriedClient.host):\(origin.port)\r\nConnection: close\r\n\r\n"
        _ = Descriptor.write(Array(head.utf8)[...], to: connection)
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while answer.count < 65_536 {
            let count = recv(connection, &piece, piece.count, 0)
            if count <= 0 { break }
            answer += piece[..<count]
        }
        let text = String(decoding: answer, as: UTF8.self)
        if origin.request(below: "/request/")?.cameThrough == true, text.hasSuffix(TrialOrigin.content) {
            return Finding("request", .good, "a test request reached the test server of larder doctor through Larder")
        }
        let lines = text.components(separatedBy: "\r\n")
        if lines[0].contains(" 407 ") {
            return Finding(
                "request", .bad,
                "clients.authenticate requires every client to authenticate, and larder env has no password; "
                    + "the value `remote` exempts clients on this machine",
                remedy: edit.map { "\($0) && larder reload" })
        }
        if text.contains("offline_miss") {
            return Finding("request", .skipped, "Larder is offline and forwards no requests: larder doctor cannot try programs")
        }
        let told = lines.first { $0.lowercased().hasPrefix("proxy-status:") } ?? lines.first ?? ""
        return Finding(
            "request", .bad,
            "a test request did not reach the test server of larder doctor: \(told.isEmpty ? "no response" : told)",
            remedy: "larder explain \(url)")
    }

    struct Code: Error { let number: Int32 }

    private static func connected(_ address: ListenAddress) -> Result<Int32, Code> {
        guard let socket = TrialSocket.connect(to: address) else { return .failure(Code(number: errno)) }
        return .success(socket)
    }
}
