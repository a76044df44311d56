import Dispatch
import EventLoop
import Glibc
import HTTPSerialization
import LarderHTTP
import ServerTrust

extension FuzzTarget {
    /// The bytes of a server, from its socket through `HTTPSession.value`: a value of a status that the serializer accepts, or an error that
    /// says what is wrong. The first byte chooses the serializer, the method, and whether every status is accepted.
    package static let responseValue = FuzzTarget("ResponseValue") { bytes in
        guard let choice = bytes.first else { return nil }
        guard let client = ValueClient.shared else { return "the session or its origin cannot be opened" }
        return client.check(choice, response: Array(bytes.dropFirst()))
    }
}

/// A session, and the origin that answers it with the bytes of the latest check. One check after the other.
private final class ValueClient: Sendable {
    static let shared = try? ValueClient()  // a check says that there is none

    private let session: HTTPSession
    private let origin: BytesOrigin
    private let turn = Guarded(())

    private init() throws {
        origin = try BytesOrigin()
        var configuration = SessionConfiguration()
        configuration.retries = .never
        // Whatever Location says, nothing but the origin is asked.
        configuration.redirects = .deliver
        configuration.cookies = CookieJar()
        configuration.limits.bodyLength = 1 << 20
        // Each check has a connection of its own.
        configuration.limits.idleConnections = 0
        configuration.limits.idleConnectionsPerOrigin = 0
        session = try HTTPSession(configuration: configuration, trust: .policies(TrustPolicySet([], fallback: .deny)))
    }

    func check(_ choice: UInt8, response: [UInt8]) -> String? {
        turn.withLock { _ in
            origin.answer(with: response)
            let fault = Guarded<String?>(nil)
            let end = DispatchSemaphore(value: 0)
            // On the session's thread: the one that waits here may be one of the few on which tasks run.
            Task(executorPreference: session.taskExecutor) {
                let found = await self.fault(choice)
                fault.withLock { $0 = found }
                end.signal()
            }
            end.wait()
            return fault.withLock { $0 }
        }
    }

    private func fault(_ choice: UInt8) async -> String? {
        switch choice & 0x0F {
        case 0: await fault(JSONValueSerializer(), \.validation, choice)
        case 1: await fault(DecodableSerializer<Shape>(), \.validation, choice)
        case 2: await fault(TextSerializer(), \.validation, choice)
        case 3: await fault(FormSerializer(), \.validation, choice)
        case 4: await fault(XMLTreeSerializer(), \.validation, choice)
        case 5: await fault(PropertyListSerializer(), \.validation, choice)
        case 6: await fault(ImageInfoSerializer(), \.validation, choice)
        case 7: await fault(of: FirstOf<[UInt8]>([RawSerializer(), RawSerializer(validation: .json)]), choice)
        default: await fault(RawSerializer(), \.validation, choice)
        }
    }

    private func fault<Serializer: ResponseSerializer>(
        _ serializer: Serializer, _ validation: WritableKeyPath<Serializer, ResponseValidation>, _ choice: UInt8
    ) async -> String? {
        var serializer = serializer
        if choice & 0x80 != 0 { serializer[keyPath: validation].statuses = [] }
        if choice & 0x40 != 0 { serializer[keyPath: validation].contentTypes = [] }
        return await fault(of: serializer, choice)
    }

    private func fault(of serializer: some ResponseSerializer, _ choice: UInt8) async -> String? {
        let request = SessionRequest(choice & 0x20 != 0 ? .head : .get, origin.uri)
        let transfer = Transfer()
        do throws(SessionError) {
            _ = try await session.value(request, as: serializer, transfer: transfer)
        } catch {
            if error.causes.isEmpty || error.description.isEmpty { return "an error that says nothing" }
            if let status = error.response?.status, !(100...999).contains(status) { return "a status of \(status)" }
            if error.code == .timeout { return "the response never ended" }
        }
        return transfer.snapshot.phase == .ended ? nil : "the transfer goes on behind its end"
    }
}

/// What a program would decode: each kind of member once.
private struct Shape: Decodable, Sendable {
    struct Inner: Decodable, Sendable {
        let a: [Int8]?
        let b: [String: UInt64]?
    }

    let text: String?
    let whole: Int?
    let small: UInt8?
    let real: Double?
    let single: Float?
    let yes: Bool?
    let inner: Inner?
    let list: [Inner]?
}

/// Answers each connection's request with the same bytes, and closes it.
private final class BytesOrigin: Sendable {
    let uri: String
    private let bytes = Guarded<[UInt8]>([])

    init() throws(SystemError) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard listener >= 0, isBound else { throw SystemError("listen", code: errno) }
        uri = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
        let thread = DispatchQueue(label: "origin")
        thread.async { [self] in while true { serve(accept(listener, nil, nil)) } }
    }

    func answer(with bytes: [UInt8]) { self.bytes.withLock { $0 = bytes } }

    private func serve(_ connection: Int32) {
        guard connection >= 0 else { return }
        defer { close(connection) }
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = read(connection, &piece, piece.count)
            if count <= 0 { return }
            head += piece[..<count]
        }
        let bytes = bytes.withLock { $0 }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            sent += count
        }
        shutdown(connection, Int32(SHUT_WR))
        // The client closes when it has what it wants: who closes first would reset what is still on its way.
        while read(connection, &piece, piece.count) > 0 {}
    }
}
