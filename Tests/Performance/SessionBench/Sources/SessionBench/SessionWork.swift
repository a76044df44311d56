import Foundation
import HTTPSerialization
import LarderHTTP

/// The session's part.
struct SessionWork {
    private let session: HTTPSession

    init() throws {
        var configuration = SessionConfiguration()
        configuration.limits.activeExchangesPerOrigin = 128
        configuration.limits.idleConnectionsPerOrigin = 128
        configuration.retries = .never
        session = try HTTPSession(configuration: configuration)
    }

    private func ask(_ url: String, count: Int, inFlight: Int) async throws {
        let session = session
        try await run(count, inFlight: inFlight) {
            let response = try await session.send(SessionRequest(.get, url))
            guard response.status == 200, response.body.count == 1024 else { fatalError("not the body") }
        }
    }

    func get(_ url: String, count: Int, inFlight: Int) async throws {
        try await ask(url, count: 500, inFlight: inFlight)
        let measure = Measure()
        try await ask(url, count: count, inFlight: inFlight)
        print(measure.microseconds / Double(count))
    }

    /// By tasks on the session's thread.
    func getOnItsThread(_ url: String, count: Int, inFlight: Int) async throws {
        try await withTaskExecutorPreference(session.taskExecutor) { try await get(url, count: count, inFlight: inFlight) }
    }

    func growth(_ url: String, count: Int, inFlight: Int) async throws {
        var steps: [Int] = []
        for _ in 0..<5 {
            try await ask(url, count: count, inFlight: inFlight)
            steps.append(Measure.memory.now)
        }
        print("resident after each \(count): \(steps) KiB")
    }

    func download(_ url: String, to path: String) async throws {
        let measure = Measure()
        let file = try await session.download(SessionRequest(.get, url), to: .file(path))
        print(measure.microseconds / 1e6, file.length, Measure.memory.most)
    }

    func upload(_ path: String, to url: String) async throws {
        let measure = Measure()
        let response = try await session.upload(SessionRequest(.put, url), from: .file(path: path))
        guard response.status < 300 else { fatalError("status \(response.status)") }
        print(measure.microseconds / 1e6, Measure.memory.most)
    }

    func multipart(_ path: String, to url: String) async throws {
        var form = MultipartForm()
        form.append(["title": "a large file"])
        try form.append("file", file: path)
        let measure = Measure()
        let response = try await session.upload(SessionRequest(.post, url), parts: form)
        guard response.status < 300 else { fatalError("status \(response.status)") }
        print(measure.microseconds / 1e6, Measure.memory.most)
    }
}
