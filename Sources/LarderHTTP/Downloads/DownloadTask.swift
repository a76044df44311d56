import EventLoop
import HTTPMessage

/// One download: sends requests, writes the bytes, and resumes after an interruption.
///
/// Bytes are appended only to a part with the same strong validator. The missing bytes are requested with If-Range (RFC 9110
/// §13.1.5), and the response is checked as well. Any other response starts the download over.
struct DownloadTask {
    private let scope: TransferScope
    private let request: SessionRequest
    private let destination: DownloadDestination
    private let token: ResumeToken?
    private let validation: DownloadValidation
    private var session: HTTPSession { scope.session }

    init(
        _ scope: TransferScope, _ request: SessionRequest, _ destination: DownloadDestination, _ token: ResumeToken?,
        _ validation: DownloadValidation
    ) {
        self.validation = validation
        self.scope = scope
        self.request = request
        self.destination = destination
        self.token = token
    }

    func result() async -> Result<DownloadedFile, SessionError> {
        do throws(SessionError) { return .success(try await run()) } catch { return .failure(error) }
    }

    private func run() async throws(SessionError) -> DownloadedFile {
        var part = try await beginning()
        let last: TransferTask.OpenResponse
        do throws(SessionError) { last = try await fetch(&part) } catch {
            var failure = error
            // A file that is too long would be too long again.
            if error.code == .bodyTooLarge {
                await part.remove()
            } else {
                failure.resumeToken = await part.token(for: request.target)
            }
            throw failure
        }
        guard let destination = part.destination else { preconditionFailure("an accepted response has a destination") }
        do throws(SystemError) {
            let name = SuggestedName.name(for: SessionFields(last.head.fields), last.uri)
            let path = try await part.move(to: destination, suggested: name)
            return DownloadedFile(
                path: path, length: part.length, status: Int(last.head.status.code), fields: SessionFields(last.head.fields),
                uri: last.uri,
                keptLength: part.keptLength, metrics: scope.ledger.metrics)
        } catch {
            await part.remove()
            throw SessionError(.downloadMoveFailed, "\(destination.folder): \(error)").about(last.response)
        }
    }

    private func beginning() async throws(SessionError) -> DownloadPart {
        if let token {
            guard token.target == request.target else {
                throw SessionError(.resumeRejected, "the resume token belongs to another target")
            }
            do throws(SystemError) { return try await DownloadPart.take(token, session.files) } catch {
                throw SessionError(.resumeRejected, "\(error)")
            }
        }
        return DownloadPart(session.files)
    }

    /// Chooses the destination and makes the part file, for the first response that is accepted.
    private func prepare(_ part: inout DownloadPart, for arrived: TransferTask.OpenResponse, total: UInt64?)
        async throws(SessionError)
    {
        if part.destination == nil {
            part.destination = try await destination.resolved(
                DownloadResponse(
                    status: Int(arrived.head.status.code), fields: SessionFields(arrived.head.fields), uri: arrived.uri,
                    length: total))
        }
        guard !part.hasFile, let destination = part.destination else { return }
        let folder = destination.folder
        do throws(SystemError) {
            if destination.makesFolders {
                try await session.files.run { () throws(SystemError) in try FileMove.makeFolder(folder) }
            }
            try await part.makeFile(in: folder)
        } catch { throw SessionError(.downloadMoveFailed, "\(folder): \(error)") }
    }

    // MARK: Exchanges

    /// Fetches until the download is complete.
    /// - Returns: the last response, with its body consumed.
    private func fetch(_ part: inout DownloadPart) async throws(SessionError) -> TransferTask.OpenResponse {
        var fruitless = 0
        for _ in 0...session.configuration.limits.resumptions {
            let before = part.length
            let step: Step
            do throws(SessionError) { step = try await exchange(&part) } catch {
                // Bytes that must be discarded do not count as progress.
                fruitless = part.canGoOn && part.length > before ? 1 : fruitless + 1
                try await waitAfter(error, tries: fruitless)
                if !part.canGoOn { try await beginAnew(&part) }
                continue
            }
            switch step {
            case .whole(let arrived): return arrived
            case .goOn: fruitless = 0
            case .anew:
                fruitless += 1
                if fruitless > session.configuration.limits.tries {
                    throw SessionError(.resumeRejected, "the origin sent ranges that do not form one file")
                }
                try await beginAnew(&part)
            }
        }
        throw SessionError(
            .incompleteResponse, "the download is not complete after \(session.configuration.limits.resumptions) resumed requests"
        )
    }

    private enum Step {
        case whole(TransferTask.OpenResponse)
        /// A part arrived, and the next one must be requested.
        case goOn
        /// The response does not belong to the part on disk.
        case anew
    }

    private func exchange(_ part: inout DownloadPart) async throws(SessionError) -> Step {
        let arrived = try await TransferTask(
            scope, asking(for: part), consumption: .pieces(window: session.configuration.limits.unreadBodyLength)
        ).result().get()
        do throws(SessionError) {
            let plan = try DownloadPlan(arrived.head, having: part)
            switch plan {
            case .anew:
                arrived.discard()
                return .anew
            case .alreadyWhole:
                try await prepare(&part, for: arrived, total: part.length)
                arrived.discard()
                return .whole(arrived)
            case .fromStart(let validator, let total):
                try validation.check(arrived.head, total: total)
                try await prepare(&part, for: arrived, total: total)
                if part.length > 0 { try await beginAnew(&part) }
                // Only a GET can ask for the rest (RFC 9110 §14.2).
                part.note(request.method == .get ? validator : nil, total: total)
                scope.transfer.resumeReceiving(at: 0, of: total)
                try await take(arrived, into: &part, expected: total)
                return .whole(arrived)
            case .part(let length, let total):
                try validation.check(arrived.head, total: total)
                try await prepare(&part, for: arrived, total: total)
                part.note(part.validator, total: total)
                scope.transfer.resumeReceiving(at: part.length, of: total)
                try await take(arrived, into: &part, expected: length)
                return part.length == total ? .whole(arrived) : .goOn
            }
        } catch {
            arrived.link.cancel()
            throw error.about(arrived.response)
        }
    }

    private func asking(for part: DownloadPart) -> SessionRequest {
        var request = request
        // Parts of different codings do not fit together (RFC 9110 §14.2), and downloads are not decoded: request no content coding.
        if !request.fields.contains("Accept-Encoding") { request.fields["Accept-Encoding"] = "identity" }
        guard part.canGoOn, let validator = part.validator else { return request }
        request.fields["Range"] = "bytes=\(part.length)-"
        request.fields["If-Range"] = validator.text
        return request
    }

    /// - Parameter expected: how many bytes must arrive; `nil` if that is not known.
    private func take(_ arrived: TransferTask.OpenResponse, into part: inout DownloadPart, expected: UInt64?)
        async throws(SessionError)
    {
        var left = expected
        while true {
            switch await arrived.link.next() {
            case .failure(let failure): throw SessionError(link: failure)
            case .success(nil):
                if let left, left > 0 { throw SessionError(.incompleteResponse, "\(left) bytes are missing") }
                return
            case .success(let octets?):
                if let known = left {
                    // More bytes arrived than the response announced: we cannot tell which of them are right.
                    guard UInt64(octets.count) <= known else {
                        try await beginAnew(&part)
                        throw SessionError(.malformedResponse, "the server sent more bytes than it announced")
                    }
                    left = known - UInt64(octets.count)
                }
                try validation.check(length: part.length + UInt64(octets.count))
                do throws(SystemError) { try await part.append(octets) } catch { throw SessionError(.fileFailed, "\(error)") }
            }
        }
    }

    private func beginAnew(_ part: inout DownloadPart) async throws(SessionError) {
        do throws(SystemError) { try await part.beginAnew() } catch { throw SessionError(.fileFailed, "\(error)") }
    }

    /// Waits before the next exchange, if the retry policy allows one. Otherwise throws the error.
    private func waitAfter(_ error: SessionError, tries: Int) async throws(SessionError) {
        let policy = request.optionsBox?.options.retries ?? session.configuration.retries
        let isBroken = Self.breaks.contains(error.code) && error.trust == nil
        // A request that is not idempotent, or whose content is gone, is not sent again.
        guard isBroken, request.method.isIdempotent, request.body.isReplayable, policy.errors.contains(.incompleteResponse),
            !scope.transfer.isCancelled,
            let wait = policy.wait(tries: tries, retryAfter: nil, chance: .random(in: 0..<1))
        else { throw error }
        scope.ledger.noteRetry(tries: tries, after: wait, .failure(error))
        scope.transfer.enter(.waiting)
        guard await session.wait(wait, for: scope.transfer) else {
            throw SessionError(.cancelled)
        }
    }

    /// Errors within a body after which the download is resumed.
    private static let breaks: Set<SessionError.Code> = [
        .incompleteResponse, .connectionTerminated, .timeout, .malformedResponse,
    ]
}
