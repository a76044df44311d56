import HTTPCaching
import HTTPMessage
import ResponseStore

/// Responses that are made piece by piece, for the admin socket and for a terminal. Each piece takes about 50 ms at most.
package enum CacheAnswers {
    /// The entries that the filter selects, up to the limit.
    package static func list(
        _ source: CacheSource, _ filter: StoreFilter, at now: Timestamp, _ form: CacheOutput, limit: Int?
    ) -> () -> AdminPiece {
        var listing: StoreListing? = source.list(filter, now)
        var writer = EntryWriter(form, at: now)
        var left = limit ?? .max
        var isOver = false
        return {
            if isOver { return .end }
            guard let place = listing, left > 0 else {
                isOver = true
                var end: [UInt8] = []
                writer.writeEnd(into: &end)
                return .piece(end)
            }
            guard let page = source.page(place) else { return .broken }
            listing = page.next
            var output: [UInt8] = []
            output.reserveCapacity(page.entries.count * 256)
            for entry in page.entries.prefix(left) { writer.write(entry, into: &output) }
            left -= min(left, page.entries.count)
            return .piece(output)
        }
    }

    /// The totals of the entries that the filter selects.
    package static func tally(
        _ source: CacheSource, _ filter: StoreFilter, at now: Timestamp, isText: Bool
    ) -> () -> AdminPiece {
        var listing: StoreListing? = source.list(filter, now)
        var tally = CacheTally()
        var isOver = false
        return {
            if isOver { return .end }
            guard let place = listing else {
                isOver = true
                return .piece(Array((isText ? tally.text : tally.json.written() + "\n").utf8))
            }
            guard let page = source.page(place) else { return .broken }
            listing = page.next
            for entry in page.entries { tally.add(entry, at: now) }
            return .piece([])
        }
    }

    /// Stored bytes of a response's content, verified as they are read.
    package static func body(_ source: CacheSource, of response: StoredResponse, _ range: Range<UInt64>) -> () -> AdminPiece {
        var offset = range.lowerBound
        return {
            if offset >= range.upperBound { return .end }
            switch response.body {
            case .bytes(let bytes):
                let end = min(Int(offset) + 128 << 10, Int(range.upperBound))
                defer { offset = UInt64(end) }
                return .piece(Array(bytes[Int(offset)..<end]))
            case .onDisk(let body):
                guard let piece = source.piece(body, offset) else { return .broken }
                let wanted = piece.prefix(Int(clamping: range.upperBound - offset))
                offset += UInt64(wanted.count)
                return .piece(Array(wanted))
            }
        }
    }

    /// A verification of the whole store; `finished` is called at the end, with `true` if there are no faults.
    package static func verification(
        _ source: CacheSource, isText: Bool, finished: @escaping (_ isGood: Bool) -> Void = { _ in }
    ) -> () -> AdminPiece {
        var verification = StoreVerification(isAlone: source.isAlone)
        var isOver = false
        return {
            if isOver { return .end }
            guard let next = source.verify(verification) else { return .broken }
            verification = next
            guard verification.isAtEnd else { return .piece([]) }
            isOver = true
            finished(verification.faultCount == 0)
            let report = VerificationReport(verification)
            return .piece(Array((isText ? report.text : report.json.written() + "\n").utf8))
        }
    }

    /// The progress of a purge: one line when it takes effect, one at its end.
    package static func purge(_ progress: PurgeReport, isText: Bool) -> () -> AdminPiece {
        var isOver = false
        return {
            if isOver { return .end }
            switch progress.next(waitingAtMost: 50) {
            case nil: return .piece([])
            case .inEffect: return .piece(isText ? [] : Array("{\"state\":\"in_effect\"}\n".utf8))
            case .done(let count):
                isOver = true
                return .piece(Array((isText ? "purged \(count)\n" : "{\"state\":\"done\",\"count\":\(count)}\n").utf8))
            case .interrupted: return .broken
            }
        }
    }
}
