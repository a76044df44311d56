import ArgumentParser
import CommandSupport
import Downloads
import EventLoop
import Foundation
import LarderHTTP
import ProxyAdmin
import TextCoding

struct FetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: "Fetch files by URL, through the store, and verify them.",
        discussion: """
            A file gets its final name only when it is complete and its digest matches. If a download is interrupted, the same \
            command resumes it.

              larder fetch https://example.com/image.iso
              larder fetch --digest sha256:… -o image.iso https://example.com/latest
              larder fetch -i list.txt -d downloads --at-once 8

            Each line of a list is a URL, optionally followed by sha256:… and out=NAME.

            Exit codes:

              0  success
              1  failure
              2  wrong usage or settings
              3  a file cannot be written, or exists
              4  a rule or the settings deny the request, or nothing is stored
                 (--offline)
              5  a different digest
              7  the server is not trusted
              8  the server cannot be reached, or closed the connection early
              9  the server responds with an error

            With several URLs, the exit code is that of the first URL in the list that failed. If a signal ended the command, the \
            exit code is 128 plus the signal's number.
            """)

    @Option(
        name: [.short, .customLong("input")],
        help: ArgumentHelp("Read URLs from a file, one URL on each line; - is standard input.", valueName: "file"))
    var input: String?

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The file to write; - is standard output. Larder writes to standard output, pipes and devices only when the file is complete.",
            valueName: "file"))
    var output: String?

    @Option(
        name: [.customShort("d"), .long],
        help: ArgumentHelp(
            "The folder for files with suggested names. It is created if necessary.", valueName: "folder"))
    var folder: String?

    @Flag(name: .customShort("O"), help: "Use the name that the response suggests. This is the default without -o.")
    var remoteName = false

    @Flag(help: "Replace a file that exists.")
    var overwrite = false

    @Option(
        help: ArgumentHelp("The expected digest: sha256: or sha512: and hexadecimal digits.", valueName: "digest"))
    var digest: String?

    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp(
            "A field for every request, \"Name: value\", or @FILE with one field on each line. Repeatable.", valueName: "field"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp("Ranges of one file to fetch at the same time, if its server supports ranges.", valueName: "count"))
    var parts = 1

    @Option(help: ArgumentHelp("URLs to fetch at the same time.", valueName: "count"))
    var atOnce = 4

    @Option(help: ArgumentHelp("Give up after this many consecutive failed retries.", valueName: "count"))
    var retries = 5

    @Flag(help: "Validate stored responses with the server.")
    var refresh = false

    @Flag(help: "Do not store the responses.")
    var noStore = false

    @Flag(help: "Use stored responses of any age, and send no requests.")
    var offline = false

    @Option(
        help: ArgumentHelp(
            "A settings file whose values replace the values of the main file. It replaces `rules` and `tls.hosts` as a whole.",
            valueName: "file"))
    var policy: String?

    @Option(help: ArgumentHelp("The store file, or :memory:.", valueName: "path"))
    var store: String?

    @Flag(help: "Print one line of JSON on standard output for each URL.")
    var json = false

    @Flag(name: [.short, .long], help: "Print only errors.")
    var quiet = false

    @OptionGroup var options: SettingsOptions

    @Argument(help: ArgumentHelp("The URLs to fetch.", valueName: "url"))
    var urls: [String] = []

    func validate() throws {
        if urls.isEmpty, input == nil { throw ValidationError("Which URL? For example: larder fetch https://example.com/file") }
        if output != nil, urls.count != 1 || input != nil {
            throw ValidationError("-o names one file; for several URLs use a folder (-d).")
        }
        if output != nil, folder != nil || remoteName { throw ValidationError("-o gives the file's path: omit -d and -O.") }
        if digest != nil, urls.count != 1 || input != nil {
            throw ValidationError("--digest is for one file: in a list (-i), write the digests after the URLs.")
        }
        if output == "" { throw ValidationError("-o needs a file name.") }
        if json, let output, ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(output) {
            throw ValidationError("-o \(output) and --json both write to standard output.")
        }
        if offline, refresh { throw ValidationError("--offline sends no requests, so --refresh cannot work with it.") }
        try Self.check(parts, "--parts", 1...FetchTerms.partLimit)
        try Self.check(atOnce, "--at-once", 1...FetchTerms.atOnceLimit)
        try Self.check(retries, "--retries", 0...100)
    }

    private static func check(_ value: Int, _ name: String, _ range: ClosedRange<Int>) throws {
        if !range.contains(value) { throw ValidationError("\(name) must be from \(range.lowerBound) to \(range.upperBound).") }
    }

    func run() throws {
        // `FetchSignals` must be created before any other thread.
        let signals = FetchSignals()
        let items: [FetchItem]
        var terms: FetchTerms
        do throws(FetchFailure) {
            items = try self.items()
            terms = try self.terms()
        } catch {
            Terminal.talk("larder: \(error.sentence)\n")
            throw ExitCode(error.kind.exitCode)
        }
        let way = try FetchRoute(options, FetchRoute.Terms(policy: policy, store: store, isOffline: offline))
        if !quiet { tell(way) }
        let endings = try fetch(items, terms, way, signals)
        way.close(waits: signals.number == nil)
        // A cancellation after all files were complete has no effect.
        if let number = signals.number, endings.count < items.count || endings.contains(where: \.isInterrupted) {
            throw ExitCode(128 + number)
        }
        for ending in endings {
            if case .failure(let failure) = ending.result { throw ExitCode(failure.kind.exitCode) }
        }
    }

    /// Prints messages about the store and about other proxies before the transfers start.
    private func tell(_ way: FetchRoute) {
        if let remark = way.remark { Terminal.talk("larder: \(remark)\n") }
        let environment = ProcessInfo.processInfo.environment
        let names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]
        let others = names.filter { environment[$0].map { !$0.isEmpty && $0 != "http://\(way.address)" } ?? false }
        if !way.hasProxy, let name = others.first {
            Terminal.talk(
                "larder: ignored the proxy in \(name): to send requests through another proxy, set upstream.proxy\n"
            )
        }
    }

    private func fetch(
        _ items: [FetchItem], _ terms: FetchTerms, _ way: FetchRoute, _ signals: FetchSignals
    ) throws -> [FetchAll.Ending] {
        let session: HTTPSession
        do throws(SessionError) {
            session = try FetchSession.make(
                way.proxy, connections: terms.atOnce * terms.parts, userAgent: "larder/\(Version.number)")
        } catch {
            Terminal.talk("larder: cannot start: \(error)\n")
            throw ExitCode.failure
        }
        let board = FetchBoard(count: items.count)
        let display = FetchDisplay(board, isQuiet: quiet)
        let isTold = json
        let all = FetchAll(items: items, terms: terms, session: session, board: board) { ending in
            if isTold { Terminal.output(FetchReport.line(ending) + "\n") }
        }
        let outcome = Outcome()
        // The task runs on the session's thread, which reads the responses, so that received bytes are written without switching threads.
        // Work that takes long runs on other threads.
        let task = Task.detached(executorPreference: session.taskExecutor) {
            outcome.endings = await all.run()
            await session.shutdown(.cancel)
            outcome.ended.signal()
        }
        signals.atFirst { task.cancel() }
        outcome.ended.wait()
        display.close()
        return outcome.endings
    }

    // MARK: Messages

    private func items() throws(FetchFailure) -> [FetchItem] {
        var items: [FetchItem] = []
        for url in urls { items.append(try FetchItem(url)) }
        if let digest {
            items[0].digest = try FileDigest.read(digest)
        }
        if let input { items += try FetchList.read(input) }
        try FetchNames.check(items)
        return items
    }

    private func terms() throws(FetchFailure) -> FetchTerms {
        var terms = FetchTerms()
        let mask = umask(0)
        umask(mask)
        terms.mode = 0o666 & ~mask
        terms.place = try place()
        terms.overwrites = overwrite
        terms.parts = parts
        terms.atOnce = atOnce
        terms.retries.limit = retries
        terms.fields = try FetchFields.read(header)
        terms.mayAskAgain = !refresh && !offline
        if refresh { terms.fields.append("Cache-Control", "no-cache") }
        if noStore { terms.fields.append("Cache-Control", "no-store") }
        return terms
    }

    private func place() throws(FetchFailure) -> FetchTerms.Place {
        if let output {
            if let outlet = FetchOutput(output) { return .outlet(outlet) }
            return .file(output)
        }
        guard let folder, !folder.isEmpty else { return .folder(".") }
        do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
            throw FetchFailure(.file, "file_failed", "cannot create the folder \(printable(folder, limit: 4096))")
        }
        return .folder(folder)
    }
}

/// The results that the tasks pass to the waiting thread.
private final class Outcome: Sendable {
    let ended = DispatchSemaphore(value: 0)
    private let kept = Guarded<[FetchAll.Ending]>([])

    var endings: [FetchAll.Ending] {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
