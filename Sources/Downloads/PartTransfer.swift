import CommandSupport
import EventLoop
import Foundation
import HTTPSerialization
import LarderHTTP

/// Fetches a part until it is complete: sends requests, writes the content, resumes after failures, and starts again if the file has
/// changed.
///
/// A pass requests the missing bytes, with one request or with several at once. Only `run` handles the reason why a pass ended, between two
/// passes. In a pass each worker takes one piece after another. A worker that fails returns the rest of its piece and ends, so that a
/// server that accepts fewer connections gets fewer. A worker that finds another entity ends the pass.
struct PartTransfer: Sendable {
    /// The facts that the responses contained.
    struct Facts: Sendable {
        var name = ""
        var isFromStore = false
    }

    enum Outcome: Sendable {
        case whole(Facts)
        /// The file with the name that the response suggests already exists, and is the requested file.
        case standing(FetchedFile)
    }

    let item: FetchItem
    let terms: FetchTerms
    let session: HTTPSession
    let part: PartFile
    let row: FetchBoard.Row
    /// Returns the existing file with this name if it is the requested file.
    let standing: @Sendable (String) async throws(FetchFailure) -> FetchedFile?

    /// Why a pass ended before everything was fetched.
    private enum Break: Error {
        /// The existing part belongs to another entity.
        case changed
        /// The parts that the server sends cannot be combined, so the whole file is requested at once.
        case needsWhole
        case standing(FetchedFile)
        case failure(FetchFailure)
    }

    func run() async throws(FetchFailure) -> Outcome {
        var asksForParts = terms.parts > 1
        var tries = 0
        var beginnings = 0
        while true {
            let before = part.length
            let ending = await pass(asksForParts: asksForParts)
            switch ending {
            case .success(let facts): return .whole(facts)
            case .failure(.standing(let file)): return .standing(file)
            case .failure(.needsWhole):
                asksForParts = false
                try await part.beginAnew()
            case .failure(.changed):
                beginnings += 1
                try await part.beginAnew()
                if beginnings > FetchTerms.beginningLimit {
                    throw FetchFailure(.status, "entity_changes", "the file on the server changes faster than it can be fetched")
                }
                row.say("the file has changed on the server: starting again")
            case .failure(.failure(let failure)):
                if part.entity == nil { try await part.beginAnew() }
                tries = part.length > before ? 1 : tries + 1
                let wait = terms.retries.wait(tries: tries, retryAfter: failure.retryAfter, chance: .random(in: 0..<1))
                guard failure.isRetryable, let wait else { throw Self.last(failure, terms.retries) }
                row.say("\(failure.sentence): \(Self.intent(part.length)) in \(Self.text(wait))")
                row.enter(.waiting)
                do { try await Task.sleep(for: wait) } catch { throw .interrupted }
            }
        }
    }

    /// Adds to the failure's text that the server asks for a longer wait than allowed.
    private static func last(_ failure: FetchFailure, _ retries: RetryPolicy) -> FetchFailure {
        guard failure.isRetryable, retries.limit > 0, let asked = failure.retryAfter, asked > retries.longestRetryAfter else {
            return failure
        }
        let (wish, bound) = (asked.components.seconds, retries.longestRetryAfter.components.seconds)
        return failure.saying(
            "\(failure.sentence) and asked to wait \(Quantity.wholeTime(wish)); larder fetch waits at most \(Quantity.wholeTime(bound))"
        )
    }

    private static func intent(_ length: UInt64) -> String {
        length > 0 ? "resuming at \(Quantity.text(length))" : "retrying"
    }

    private static func text(_ wait: Duration) -> String {
        let (seconds, attoseconds) = wait.components
        let tenths = attoseconds / 100_000_000_000_000_000
        return "\(seconds).\(tenths) s"
    }

    // MARK: One pass

    private func pass(asksForParts: Bool) async -> Result<Facts, Break> {
        do throws(Break) {
            if part.isWhole { return .success(Facts(name: part.suggestedName)) }
            let entity = part.entity
            let asked = entity != nil ? part.missing.first.map(first) : asksForParts ? 0..<FetchTerms.shortestPart : nil
            let response = try await ask(asked, entity)
            var facts = Facts(
                name: SuggestedName.name(for: response.fields, response.uri), isFromStore: Self.isFromStore(response))
            let digests = response.fields.values(of: "Repr-Digest")
            switch PartDecision(status: response.status, fields: response.fields, asked: asked, entity: entity) {
            case .refused: throw .failure(await refusal(response))
            case .malformed:
                throw .failure(FetchFailure(.failed, "malformed_response", "the server sent a range that was not requested"))
            case .changed: throw .changed
            case .lonePart: throw .needsWhole
            case .whole(let new):
                if entity != nil {
                    row.say(
                        new.tag == entity?.tag
                            ? "the server does not support ranges: starting again"
                            : "the file has changed on the server: starting again")
                    do throws(FetchFailure) { try await part.beginAnew() } catch { throw .failure(error) }
                }
                try await admit(new, facts.name, digests)
                try await take(response, at: 0..<(new.total ?? .max), endsKnown: new.total != nil)
                part.noteEnd()
            case .part(let range, let entity):
                // A 206 need not repeat the field that suggests the file name.
                if part.entity != nil, !part.suggestedName.isEmpty { facts.name = part.suggestedName }
                try await admit(entity, facts.name, digests)
                try await takeAll(response, range, entity)
            }
            return .success(facts)
        } catch { return .failure(error) }
    }

    /// The first piece to request: up to the known end, or a piece of a long range.
    private func first(of missing: Range<UInt64>) -> Range<UInt64> {
        guard terms.parts > 1, part.total != nil else { return missing }
        return missing.lowerBound..<min(missing.upperBound, missing.lowerBound + pieceLength)
    }

    private var pieceLength: UInt64 {
        let whole = part.total ?? 0
        return min(max(whole / UInt64(terms.parts * 4), FetchTerms.shortestPart), 64 << 20)
    }

    private func admit(_ entity: FetchedEntity, _ name: String, _ digests: [String]) async throws(Break) {
        let found: FetchedFile?
        do throws(FetchFailure) { found = try await standing(name) } catch { throw .failure(error) }
        if let found { throw .standing(found) }
        part.note(entity, name: name, digests: digests)
        row.begin(at: part.length, of: entity.total, keeping: part.keptLength)
    }

    // MARK: Several requests at once

    private func takeAll(_ first: StreamingResponse, _ range: Range<UInt64>, _ entity: FetchedEntity) async throws(Break) {
        let queue = PieceQueue(part.missing, without: range, pieceLength: terms.parts > 1 ? pieceLength : .max)
        let count = min(terms.parts, queue.count(upTo: terms.parts) + 1)
        let breaks = await withTaskGroup(of: Break?.self) { group in
            group.addTask { await work(queue, entity, beginning: (first, range)) }
            for _ in 1..<max(1, count) { group.addTask { await work(queue, entity, beginning: nil) } }
            var breaks: [Break] = []
            for await ending in group {
                guard let ending else { continue }
                breaks.append(ending)
                // If a retry cannot help, the other workers are stopped: they would fail too, or fetch bytes that are discarded.
                switch ending {
                case .failure(let failure) where failure.isRetryable: break
                default: group.cancelAll()
                }
            }
            return breaks
        }
        for case .changed in breaks { throw .changed }
        if part.isWhole { return }
        throw breaks.first
            ?? .failure(FetchFailure(.network, "response_incomplete", "some bytes of the file are missing", isRetryable: true))
    }

    /// - Returns: the reason if it ended early.
    private func work(
        _ queue: PieceQueue, _ entity: FetchedEntity, beginning: (StreamingResponse, Range<UInt64>)?
    ) async -> Break? {
        do throws(Break) {
            if let (response, range) = beginning {
                try await takeOrGiveBack(range, queue) { () async throws(Break) in
                    try await take(response, at: range, endsKnown: true)
                }
            }
            while let piece = queue.next() {
                try await takeOrGiveBack(piece, queue) { () async throws(Break) in
                    let response = try await ask(piece, entity)
                    switch PartDecision(status: response.status, fields: response.fields, asked: piece, entity: entity) {
                    case .part(let range, _):
                        try await take(response, at: range, endsKnown: true)
                        // The server may have sent fewer bytes than requested; the missing bytes are requested again.
                        queue.giveBack(range.upperBound..<piece.upperBound)
                    case .refused: throw Break.failure(await refusal(response))
                    default: throw Break.changed
                    }
                }
            }
            return nil
        } catch { return error }
    }

    private func takeOrGiveBack(
        _ piece: Range<UInt64>, _ queue: PieceQueue, _ body: () async throws(Break) -> Void
    ) async throws(Break) {
        do throws(Break) { try await body() } catch {
            for rest in part.missing where rest.overlaps(piece) { queue.giveBack(rest.clamped(to: piece)) }
            throw error
        }
    }

    // MARK: One request

    private func ask(_ range: Range<UInt64>?, _ entity: FetchedEntity?) async throws(Break) -> StreamingResponse {
        var request = SessionRequest(.get, item.uri.description, fields: terms.fields)
        if let authorization = item.authorization, !request.fields.contains("Authorization") {
            request.fields["Authorization"] = authorization
        }
        // Parts belong to one representation, and content codings are not decoded (RFC 9110 §14.2).
        if !request.fields.contains("Accept-Encoding") { request.fields["Accept-Encoding"] = "identity" }
        if let range {
            request.fields["Range"] = "bytes=\(range.lowerBound)-" + (range.upperBound == .max ? "" : "\(range.upperBound - 1)")
            request.fields["If-Range"] = entity?.tag
        }
        if row.phase != .receiving { row.enter(.asking) }
        do throws(SessionError) { return try await session.open(request) } catch { throw .failure(FetchFailure(error)) }
    }

    private static func isFromStore(_ response: StreamingResponse) -> Bool {
        // Each cache appends a member (RFC 9211 §2), and Larder is the last one.
        response.fields.values(of: "Cache-Status").last?.split(separator: ",").last?.contains("; hit") ?? false
    }

    private func refusal(_ response: StreamingResponse) async -> FetchFailure {
        var body: [UInt8] = []
        if GatewayAnswer.isLarders(response.fields) {
            // Without a body, only the status is used.
            body = (try? await response.body.collect(atMost: GatewayAnswer.lengthLimit)) ?? []
        }
        return GatewayAnswer.failure(status: response.status, fields: response.fields, body: body)
    }

    private static let writeBackLength: UInt64 = 8 << 20

    /// Writes the content to its place.
    /// - Parameter endsKnown: whether the content must have exactly the length of the range.
    private func take(_ response: StreamingResponse, at range: Range<UInt64>, endsKnown: Bool) async throws(Break) {
        let told = DigestField(parsing: response.fields.values(of: "Content-Digest"))?.strongest
        let hasher = told.map { DigestHasher($0.algorithm) }
        let isFromStore = Self.isFromStore(response)
        if isFromStore { part.noteStored() }
        var offset = range.lowerBound
        var written = offset
        do {
            for try await octets in response.body {
                guard UInt64(octets.count) <= range.upperBound - offset else {
                    throw FetchFailure(.failed, "malformed_response", "the server sent more bytes than it announced")
                }
                try part.write(octets, at: offset)
                hasher?.update(octets.span)
                offset += UInt64(octets.count)
                row.add(octets.count)
                if offset - written >= Self.writeBackLength {
                    part.beginWritingBack(written..<offset)
                    written = offset
                }
            }
        } catch let error as FetchFailure { throw .failure(error) } catch let error as SessionError {
            throw .failure(FetchFailure(error))
        } catch { throw .failure(.interrupted) }
        if endsKnown, offset < range.upperBound {
            throw .failure(FetchFailure(.network, "response_incomplete", "the connection closed early", isRetryable: true))
        }
        if let hasher, let told, hasher.finish() != told {
            var failure = FetchFailure(.digest, "other_digest", "the content does not match the server's Content-Digest")
            failure.isAboutStored = isFromStore
            throw .failure(failure)
        }
    }
}

/// The pieces still to request, shared by all workers. Each piece is made only when it is requested, so that a huge length claimed by a
/// server does not create many pieces.
private final class PieceQueue: Sendable {
    private let ranges: Guarded<[Range<UInt64>]>
    private let pieceLength: UInt64

    /// - Parameter taken: the range that is already requested.
    init(_ ranges: [Range<UInt64>], without taken: Range<UInt64>, pieceLength: UInt64) {
        self.pieceLength = pieceLength
        self.ranges = Guarded(
            ranges.flatMap { range in
                [
                    range.lowerBound..<min(range.upperBound, max(range.lowerBound, taken.lowerBound)),
                    max(range.lowerBound, min(range.upperBound, taken.upperBound))..<range.upperBound,
                ].filter { !$0.isEmpty }
            })
    }

    /// The number of pieces, counted up to the limit.
    func count(upTo limit: Int) -> Int {
        ranges.withLock { ranges in
            var count = 0
            // Stops at the limit, so that the sum cannot overflow.
            for range in ranges where count < limit {
                count += min(limit, Int(clamping: (range.upperBound - range.lowerBound - 1) / pieceLength + 1))
            }
            return min(count, limit)
        }
    }

    func next() -> Range<UInt64>? {
        ranges.withLock { ranges in
            guard let first = ranges.first else { return nil }
            if first.upperBound - first.lowerBound <= pieceLength { return ranges.removeFirst() }
            let end = first.lowerBound + pieceLength
            ranges[0] = end..<first.upperBound
            return first.lowerBound..<end
        }
    }

    func giveBack(_ piece: Range<UInt64>) {
        if !piece.isEmpty { ranges.withLock { $0.insert(piece, at: 0) } }
    }
}
