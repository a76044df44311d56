import EventLoop

/// A thread for blocking file operations. Created on first use.
final class FileThread: Sendable {
    private let thread = Guarded<LoopThread?>(nil)
    /// The folders of earlier downloads. Their number is limited.
    private let folders = Guarded<Set<String>>([])
    private static let folderLimit = 1024

    /// Whether the session has not used the folder before.
    func isFirstUse(of folder: String) -> Bool {
        folders.withLock { folders in
            if folders.count >= Self.folderLimit { folders = [] }
            return folders.insert(folder).inserted
        }
    }

    /// Runs the work on the thread, in the order of the calls.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws(SystemError) -> Value) async throws(SystemError) -> Value {
        let wakeup = Wakeup<Result<Value, SystemError>>()
        let isPosted = try handle().post { _ in
            do throws(SystemError) { wakeup.send(.success(try work())) } catch { wakeup.send(.failure(error)) }
        }
        guard isPosted else { throw SystemError("post", code: 0) }
        return try await wakeup.value().get()
    }

    private func handle() throws(SystemError) -> LoopHandle {
        let made: Result<LoopHandle, SystemError> = thread.withLock { thread in
            if let thread { return .success(thread.handle) }
            do throws(SystemError) {
                let new = try LoopThread(name: "session-files")
                thread = new
                return .success(new.handle)
            } catch { return .failure(error) }
        }
        return try made.get()
    }

    /// Ends the thread after all queued work is done.
    func close() {
        let last: LoopThread? = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        last?.handle.stop()
        _ = last?.join(withinMilliseconds: 2000)
    }

    deinit { close() }
}
