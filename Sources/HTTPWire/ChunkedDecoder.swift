import HTTPMessage

/// Decodes the chunked transfer coding (RFC 9112 §7.1): chunk data in whole pieces, the rest byte by byte.
///
/// States and moves, with the bytes that cause them:
///
///     sizeStart ─hex→ size ─hex→ size
///     size ─CR→ lineEnd    size ─blank→ beforeExtension ─blank→ beforeExtension
///     size, beforeExtension ─;→ extensionStart ─blank→ extensionStart ─text→ extensions
///     extensions ─;→ extensionStart    extensions ─other text→ extensions ─CR→ lineEnd
///     lineEnd ─LF→ data, or after a size of zero → trailers
///     data ─all bytes of the chunk→ dataEnd ─CR→ dataLineEnd ─LF→ sizeStart
///     trailers ─empty line→ ended
///
/// All input is consumed: the decoder keeps the received part of a trailer section itself.
struct ChunkedDecoder: Sendable {
    private enum State {
        case sizeStart, size, beforeExtension, extensionStart, extensions, lineEnd
        case data, dataEnd, dataLineEnd
        case trailers, ended
    }

    private let limits: ParseLimits
    private var state = State.sizeStart
    /// The size of the chunk while its digits are read; after that, the number of bytes of the chunk that have not been read.
    private var remaining: UInt64 = 0
    private var lineLength = 0
    private var extensionsLength = 0
    private var trailerScanner = LineScanner()
    private(set) var trailers = Fields()

    init(limits: ParseLimits) {
        self.limits = limits
    }

    mutating func reset() {
        state = .sizeStart
        remaining = 0
        lineLength = 0
        extensionsLength = 0
        trailerScanner = LineScanner()
        trailers.removeAll()
    }

    mutating func next(_ input: Span<UInt8>, from offset: Int) throws(BodyDecodeError) -> BodyStep {
        var index = offset
        while index < input.count {
            switch state {
            case .data:
                let available = input.count - index
                let count = remaining < UInt64(available) ? Int(remaining) : available
                remaining -= UInt64(count)
                if remaining == 0 { state = .dataEnd }
                return .data(index..<index + count)
            case .trailers:
                index = try readTrailers(input, from: index)
            case .ended:
                return .end(consumed: index)
            case .sizeStart, .size, .beforeExtension, .extensionStart, .extensions, .lineEnd, .dataEnd, .dataLineEnd:
                try take(input[index])
                index += 1
            }
        }
        return state == .ended ? .end(consumed: index) : .needMore(consumed: index)
    }

    // MARK: The lines between the data

    private mutating func take(_ octet: UInt8) throws(BodyDecodeError) {
        switch state {
        case .sizeStart:
            guard ASCII.hexValue(octet) != nil else { throw .malformedChunkSize }
            remaining = 0
            lineLength = 0
            try addDigit(octet)
            state = .size
        case .size:
            if ASCII.hexValue(octet) != nil {
                try addDigit(octet)
            } else {
                state = try stateBehindSize(octet)
            }
        case .beforeExtension:
            // Blanks after the size are valid only before an extension.
            guard octet != ASCII.cr else { throw .malformedChunkSize }
            state = try stateBehindSize(octet)
        case .extensionStart, .extensions:
            if octet == ASCII.cr {
                // A name must follow a semicolon (RFC 9112 §7.1.1). This also rejects a line that ends after a semicolon in a quoted
                // string.
                guard state == .extensions else { throw .malformedChunkExtension }
                state = .lineEnd
            } else {
                guard ASCII.isFieldValueCharacter(octet) else { throw .line(Self.fault(of: octet)) }
                try countExtension()
                if octet == ASCII.semicolon { state = .extensionStart } else if !ASCII.isBlank(octet) { state = .extensions }
            }
        case .lineEnd:
            guard octet == ASCII.lf else { throw .line(.bareCarriageReturn) }
            state = remaining > 0 ? .data : .trailers
        case .dataEnd:
            guard octet == ASCII.cr else { throw .unterminatedChunk }
            state = .dataLineEnd
        case .dataLineEnd:
            guard octet == ASCII.lf else { throw .unterminatedChunk }
            state = .sizeStart
        case .data, .trailers, .ended:
            preconditionFailure("not a line of the chunked coding")
        }
    }

    private mutating func addDigit(_ octet: UInt8) throws(BodyDecodeError) {
        try countLineOctet()
        // Rejects a size before four more bits would make it greater than Int64.max (T12 in docs/threats.md).
        guard let digit = ASCII.hexValue(octet), remaining <= UInt64(Int64.max) >> 4 else { throw .chunkSizeTooLarge }
        remaining = remaining << 4 | UInt64(digit)
    }

    private mutating func stateBehindSize(_ octet: UInt8) throws(BodyDecodeError) -> State {
        switch octet {
        case ASCII.cr: return .lineEnd
        case ASCII.lf: throw .line(.bareLineFeed)
        case ASCII.semicolon:
            try countExtension()
            return .extensionStart
        case ASCII.space, ASCII.tab:
            try countExtension()
            return .beforeExtension
        default: throw .malformedChunkSize
        }
    }

    private mutating func countExtension() throws(BodyDecodeError) {
        try countLineOctet()
        extensionsLength += 1
        guard extensionsLength <= limits.chunkExtensionsLength else { throw .chunkExtensionsTooLong }
    }

    private mutating func countLineOctet() throws(BodyDecodeError) {
        lineLength += 1
        guard lineLength <= limits.chunkLineLength else { throw .chunkLineTooLong }
    }

    private static func fault(of octet: UInt8) -> LineError {
        switch octet {
        case ASCII.lf: .bareLineFeed
        case 0: .nul
        default: .controlOctet
        }
    }

    // MARK: The trailer section

    /// Takes the bytes of the next line of the trailer section, at most up to its LF, and returns the position after them.
    private mutating func readTrailers(_ input: Span<UInt8>, from start: Int) throws(BodyDecodeError) -> Int {
        // One byte more than the limit is taken, so that the scanner reports the excess.
        let room = limits.trailerSectionLength + 1 - trailers.bytes.count
        let end = min(input.count, start + room)
        var stop = start
        while stop < end {
            stop += 1
            if input[stop - 1] == ASCII.lf { break }
        }
        trailers.appendBytes(input.extracting(start..<stop))
        try readTrailerLine()
        return stop
    }

    private mutating func readTrailerLine() throws(BodyDecodeError) {
        guard let line = try nextTrailerLine() else { return }
        switch TrailerField.permission(for: line.known) {
        case .forbidden: throw .forbiddenTrailer
        case .dropped: return
        case .kept:
            guard trailers.count < limits.trailerFieldCount else { throw .tooManyTrailers }
            trailers.note(line)
        }
    }

    /// The next field line of the trailer section, if it is complete. The empty line ends the body.
    private mutating func nextTrailerLine() throws(BodyDecodeError) -> FieldLine? {
        var scanner = trailerScanner
        defer { trailerScanner = scanner }
        let start = scanner.lineStart
        do throws(SectionError) {
            let room = limits.trailerSectionLength - start - 2
            guard let end = try scanner.endOfLine(in: trailers.bytes.span, lengthLimit: room) else { return nil }
            scanner.advance(past: end)
            if end == start {
                state = .ended
                return nil
            }
            return try FieldLine(parsing: start, end: end, in: trailers.bytes.span, allowsBlankBeforeColon: false)
        } catch {
            switch error {
            case .tooLong: throw .trailersTooLarge
            case .tooManyFields: throw .tooManyTrailers
            case .line(let fault): throw .line(fault)
            }
        }
    }
}
