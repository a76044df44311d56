import ArgumentParser
import CommandSupport
import Downloads
import EventLoop
import Foundation
import HTTPSession
import ProxyAdmin
import TextCoding

struct FetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: "Fetches files by their URLs, through the store, and checks what it gets.",
        discussion: """
            A file stands under its name once it is whole and is what its digest says. What breaks off is gone on with, also by the next call.

              larder fetch https://example.com/image.iso
              larder fetch --digest sha256:… -o image.iso https://example.com/latest
              larder fetch -i list.txt -d downloads --at-once 8

            A line of a list has a URL and, where wanted, sha256:… and out=NAME behind it.

            Exit codes: 0 all is there, 1 failure, 2 wrong usage or settings, 3 a file cannot be written or is there already, 4 a rule \
            or the settings do not let it pass, or nothing is stored (--offline), 5 another digest, 7 a server that is not believed, 8 no \
            way to a server, or one that broke off, 9 the server answers with an error; of several the first that failed, in the order \
            of the URLs. 128 and more where a signal ended it.
            """)

    @Option(
        name: [.short, .customLong("input")],
        help: ArgumentHelp("Takes URLs from a file, one on a line; - is standard input.", valueName: "file"))
    var input: String?

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The file to write; - is standard output, which gets nothing before the whole is there, as do a pipe and a device.",
            valueName: "file"))
    var output: String?

    @Option(
        name: [.customShort("d"), .long],
        help: ArgumentHelp(
            "The folder for files by the names that the responses suggest; made where it is missing.", valueName: "folder"))
    var folder: String?

    @Flag(name: .customShort("O"), help: "By the name that the response suggests, which is so without -o.")
    var remoteName = false

    @Flag(help: "A file that has the name gives way.")
    var overwrite = false

    @Option(
        help: ArgumentHelp("What the file has to be: sha256: or sha512: and hexadecimal digits.", valueName: "digest"))
    var digest: String?

    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp(
            "A field of every request, \"Name: value\"; @FILE has one on each line. Repeatable.", valueName: "field"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp("Ranges of one file that are fetched at once, where its server sends them.", valueName: "count"))
    var parts = 1

    @Option(help: ArgumentHelp("URLs that are fetched at once.", valueName: "count"))
    var atOnce = 4

    @Option(help: ArgumentHelp("Further tries, one after the other, that may bring nothing.", valueName: "count"))
    var retries = 5

    @Flag(help: "Has the server asked whether what is stored still holds.")
    var refresh = false

    @Flag(help: "Keeps nothing of it in the store.")
    var noStore = false

    @Flag(help: "Takes what is stored, whatever its age; nothing leaves.")
    var offline = false

    @Option(help: ArgumentHelp("Settings that take the place of the settings file's: rules, hosts.", valueName: "file"))
    var policy: String?

    @Option(help: ArgumentHelp("The store's file, or :memory:.", valueName: "path"))
    var store: String?

    @Flag(help: "Says on standard output what became of each, as JSON, one on a line.")
    var json = false

    @Flag(name: [.short, .long], help: "Says nothing but what went wrong.")
    var quiet = false

    @OptionGroup var options: SettingsOptions

    @Argument(help: ArgumentHelp("What to fetch.", valueName: "url"))
    var urls: [String] = []

    func validate() throws {
        if urls.isEmpty, input == nil { throw ValidationError("Which URL? As in: larder fetch https://example.com/file") }
        if output != nil, urls.count != 1 || input != nil {
            throw ValidationError("-o names one file: several go into a folder (-d).")
        }
        if output != nil, folder != nil || remoteName { throw ValidationError("-o says where the file stands; so do -d and -O.") }
        if digest != nil, urls.count != 1 || input != nil {
            throw ValidationError("--digest is one file's: a list (-i) has them behind the URLs.")
        }
        if output == "" { throw ValidationError("-o names a file.") }
        if json, let output, ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(output) {
            throw ValidationError("-o \(output) and --json both write to standard output.")
        }
        if offline, refresh { throw ValidationError("--offline asks nobody, --refresh the server.") }
        try Self.check(parts, "--parts", 1...FetchTerms.partLimit)
        try Self.check(atOnce, "--at-once", 1...FetchTerms.atOnceLimit)
        try Self.check(retries, "--retries", 0...100)
    }

    private static func check(_ value: Int, _ name: String, _ range: ClosedRange<Int>) throws {
        if !range.contains(value) { throw ValidationError("\(name) is from \(range.lowerBound) to \(range.upperBound).") }
    }

    func run() throws {
        // Before any other thread is made.
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
        // Who was called off when all was done has all of it.
        if let number = signals.number, endings.count < items.count || endings.contains(where: \.isInterrupted) {
            throw ExitCode(128 + number)
        }
        for ending in endings {
            if case .failure(let failure) = ending.result { throw ExitCode(failure.kind.exitCode) }
        }
    }

    /// What it shall be known of before.
    private func tell(_ way: FetchRoute) {
        if let remark = way.remark { Terminal.talk("larder: \(remark)\n") }
        let environment = ProcessInfo.processInfo.environment
        let names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]
        let others = names.filter { environment[$0].map { !$0.isEmpty && $0 != "http://\(way.address)" } ?? false }
        if !way.hasProxy, let name = others.first {
            Terminal.talk(
                "larder: the proxy that \(name) names is not gone through: upstream.proxy names the one that Larder goes through\n"
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
        // On the thread that reads: what it has read is written without a change of threads for each piece. What takes long goes elsewhere.
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

    // MARK: What was said

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
            throw FetchFailure(.file, "file_failed", "cannot make the folder \(printable(folder, limit: 4096))")
        }
        return .folder(folder)
    }
}

/// What the tasks leave for the thread that waits.
private final class Outcome: Sendable {
    let ended = DispatchSemaphore(value: 0)
    private let kept = Guarded<[FetchAll.Ending]>([])

    var endings: [FetchAll.Ending] {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
