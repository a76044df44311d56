import ClientPasswords
import EventLoop
import Foundation
import HTTPMessage
import ProxyCore
import Testing

@testable import ProxyServer

@Suite("Verifying passwords")
struct CredentialsJudgeTests {
    /// One of the lowest cost, and one whose verification takes tens of milliseconds.
    private static let quick = "$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy"
    private static let slowAndGood = "$2y$09$abcdefghijklmnopqrstuuOxUZv4NnRZT38Rw8Gtaw/I/DHX3hzGe"

    /// The verdicts that came later, in order.
    private final class Judgements: Sendable {
        private let all = Guarded<[String]>([])
        private let count = DispatchSemaphore(value: 0)

        func add(_ judgement: CredentialsJudgement) {
            all.withLock { $0.append("\(judgement)") }
            count.signal()
        }

        func next() -> String {
            count.wait()
            return all.withLock { $0.removeFirst() }
        }
    }

    /// Verifies from one loop, and collects the replies.
    private final class Bench: Sendable {
        let judge: CredentialsJudge
        let file: PasswordFile
        private let thread: LoopThread
        private let judgements = Judgements()

        /// - Parameter starts: without it, nothing is verified before `judge.start()`.
        init(file text: String, _ limits: CredentialsLimits = CredentialsLimits(), starts: Bool = true) throws {
            judge = CredentialsJudge(limits: limits)
            if starts { try judge.start() }
            file = try PasswordFile(parsing: Array(text.utf8))
            thread = try LoopThread(name: "test") { _ in }
        }

        convenience init(
            _ hash: String = CredentialsJudgeTests.quick, _ limits: CredentialsLimits = CredentialsLimits(), starts: Bool = true
        ) throws {
            try self.init(file: "alice:\(hash)", limits, starts: starts)
        }

        deinit {
            judge.stop()
            thread.handle.stop()
            thread.join()
        }

        /// The immediate verdict; `nil` if it comes later by `next`.
        func ask(_ text: String, from client: UInt32 = 1) throws -> String? {
            let field = Array("Basic \(Base64.encode(Array(text.utf8)))".utf8)
            let read = BasicCredentials(field.span)
            let credentials = try #require(read)
            // Not the bench itself: the thread must not be the last to release it, since the bench waits for the thread's end.
            let (judge, file, judgements) = (judge, file, judgements)
            let answer = Guarded<String?>(nil)
            let asked = DispatchSemaphore(value: 0)
            thread.handle.post { loop in
                let judgement = judge.judge(credentials, by: file, from: IPAddress(ipv4: client), at: .read()) {
                    loop.reply { (judgement: CredentialsJudgement) in judgements.add(judgement) }
                }
                answer.withLock { $0 = judgement.map { "\($0)" } }
                asked.signal()
            }
            asked.wait()
            return answer.withLock { $0 }
        }

        /// The next verdict, for any request.
        func next() -> String { judgements.next() }
    }

    @Test("Accepted credentials are remembered; refused ones are verified each time")
    func remembers() throws {
        let bench = try Bench()
        #expect(try bench.ask("alice:open sesame") == nil)
        #expect(bench.next() == "accepted")
        #expect(try bench.ask("alice:open sesame") == "accepted")
        for _ in 0..<2 {
            #expect(try bench.ask("alice:wrong") == nil)
            #expect(bench.next() == "refused")
        }
    }

    @Test("The number of attempts from one address is limited; other addresses and known credentials are not affected")
    func boundsAttempts() throws {
        let bench = try Bench()
        #expect(try bench.ask("alice:open sesame") == nil)
        #expect(bench.next() == "accepted")
        var told: [String: Int] = [:]
        let began = ContinuousClock.now
        for number in 0..<10_000 {
            let answer = try bench.ask("alice:\(number)") ?? bench.next()
            told[answer, default: 0] += 1
        }
        // One more for every three seconds that this takes.
        let most = 21 + Int((ContinuousClock.now - began) / .seconds(3))
        #expect((20...most).contains(told["refused", default: 0]), "\(told)")
        #expect(told["refused", default: 0] + told["tooManyAttempts", default: 0] == 10_000, "\(told)")
        #expect(try bench.ask("alice:open sesame") == "accepted")
        #expect(try bench.ask("alice:wrong", from: 2) == nil)
        #expect(bench.next() == "refused")
    }

    @Test("Sixty users with valid passwords may connect from one address at once, as behind a gateway")
    func letsManyIn() throws {
        let bench = try Bench(file: (0..<60).map { "user\($0):\(Self.slowAndGood)\n" }.joined())
        let answers = try (0..<60).map { try bench.ask("user\($0):open sesame") }
        #expect(answers.allSatisfy { $0 == nil })
        for _ in answers { #expect(bench.next() == "accepted") }
    }

    @Test("The same credentials are verified once for all requests that bring them meanwhile, up to a limit")
    func looksOnce() throws {
        var limits = CredentialsLimits()
        limits.waitingForOne = 50
        limits.attempts = 1
        limits.attemptMilliseconds = 3_600_000
        let bench = try Bench(Self.quick, limits, starts: false)
        let answers = try (0..<60).map { _ in try bench.ask("alice:wrong") }
        #expect(answers.prefix(50).allSatisfy { $0 == nil })
        #expect(answers.suffix(10).allSatisfy { $0 == "queueFull" })
        try bench.judge.start()
        for _ in 0..<50 { #expect(bench.next() == "refused") }
        // It counted as one attempt of the one that is allowed.
        #expect(try bench.ask("alice:wrong") == "tooManyAttempts")
    }

    @Test("The number of waiting verifications is limited; further ones are refused")
    func boundsQueue() throws {
        var limits = CredentialsLimits()
        limits.waiting = 4
        let bench = try Bench(Self.quick, limits, starts: false)
        let answers = try (0..<12).map { try bench.ask("alice:\($0)", from: UInt32($0)) }
        #expect(answers.prefix(4).allSatisfy { $0 == nil })
        #expect(answers.suffix(8).allSatisfy { $0 == "queueFull" })
        try bench.judge.start()
        for _ in 0..<4 { #expect(bench.next() == "refused") }
    }
}
