import HTTPMessage

/// Reads a peer's frames (RFC 6455 §5): bytes in, whole messages and control frames out. Confined to its owner.
///
/// States and moves: `head` → `payload` → `head`; a Close frame → `ended`. After an error the reader must not be used again.
package final class WebSocketReader {
    package enum Event: Equatable, Sendable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong([UInt8])
        /// The peer's last frame; the content is `nil` if the frame is empty.
        case close(WebSocketClosing?)
    }

    private enum State { case head, payload, ended }

    private let role: WebSocketRole
    private let limits: WebSocketLimits
    /// Decompresses messages, if compression was negotiated.
    private let inflater: MessageInflater?
    private var state = State.head
    /// The bytes of a head that is not complete.
    private var partialHead: [UInt8] = []
    private var frame = WebSocketFrameHead(opcode: .continuation, length: 0)
    /// How many bytes of the frame's payload were read.
    private var position: UInt64 = 0
    private var control: [UInt8] = []

    /// The message that is being received, and its kind; `nil` between messages.
    private var opcode: WebSocketOpcode?
    private var isCompressed = false
    private var content: [UInt8] = []
    private var text = UTF8Check()
    private var frameCount = 0
    private var compressedCount = 0

    /// - Parameters:
    ///   - role: our own side.
    ///   - compression: the negotiated parameters; `nil` without compression.
    package init(_ role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits(), compression: DeflateParameters? = nil) {
        self.role = role
        self.limits = limits
        inflater = compression.map {
            role == .client
                ? MessageInflater(windowBits: $0.serverWindowBits, keepsContext: $0.serverKeepsContext)
                : MessageInflater(windowBits: $0.clientWindowBits, keepsContext: $0.clientKeepsContext)
        }
    }

    /// Whether the peer has sent its Close frame. Later bytes are discarded.
    package var hasEnded: Bool { state == .ended }

    /// Whether a frame or a message has begun and is not complete.
    package var isWithinMessage: Bool { opcode != nil || state == .payload || !partialHead.isEmpty }

    /// Reads on from `offset`, and moves it forward.
    /// - Returns: `nil` if the input is used up.
    package func next(_ input: Span<UInt8>, from offset: inout Int) throws(WebSocketFault) -> Event? {
        while true {
            switch state {
            case .head:
                guard try readHead(input, from: &offset) else { return nil }
                state = .payload
                position = 0
            case .payload:
                try readPayload(input, from: &offset)
                guard position == frame.length else { return nil }
                state = .head
                if let event = try endFrame() { return event }
            case .ended:
                offset = input.count
                return nil
            }
        }
    }

    // MARK: Heads

    private func readHead(_ input: Span<UInt8>, from offset: inout Int) throws(WebSocketFault) -> Bool {
        var needed = 2
        while true {
            while partialHead.count < needed {
                guard offset < input.count else { return false }
                partialHead.append(input[offset])
                offset += 1
            }
            // The first two bytes are checked as soon as they are there: a fault must not wait for further bytes.
            if needed > 2 { break }
            try checkBeginning(partialHead[0], partialHead[1])
            needed = WebSocketFrameHead.length(of: partialHead[1])
            if needed == 2 { break }
        }
        try acceptHead()
        partialHead.removeAll(keepingCapacity: true)
        return true
    }

    private func checkBeginning(_ first: UInt8, _ second: UInt8) throws(WebSocketFault) {
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .reservedOpcode }
        guard first & 0x30 == 0 else { throw .reservedBit }
        let hasFirstBit = first & 0x40 != 0
        if hasFirstBit {
            // RFC 7692 §6: only the first frame of a message has the bit.
            guard inflater != nil, opcode == .text || opcode == .binary else { throw .reservedBit }
        }
        guard (second & 0x80 != 0) == (role == .server) else { throw .wrongMask }
        if opcode.isControl {
            guard first & 0x80 != 0 else { throw .fragmentedControl }
            guard second & 0x7F <= 125 else { throw .longControl }
        } else if opcode == .continuation {
            guard self.opcode != nil else { throw .unexpectedContinuation }
        } else {
            guard self.opcode == nil else { throw .interruptedMessage }
        }
        frame = WebSocketFrameHead(isFinal: first & 0x80 != 0, isCompressed: hasFirstBit, opcode: opcode, length: 0)
    }

    private func acceptHead() throws(WebSocketFault) {
        let second = partialHead[1]
        var index = 2
        func number(_ count: Int) -> UInt64 {
            defer { index += count }
            return partialHead[index..<index + count].reduce(0) { $0 << 8 | UInt64($1) }
        }
        switch second & 0x7F {
        case 126:
            frame.length = number(2)
            guard frame.length > 125 else { throw .malformedLength }
        case 127:
            frame.length = number(8)
            guard frame.length > 0xFFFF, frame.length >> 63 == 0 else { throw .malformedLength }
        default: frame.length = UInt64(second & 0x7F)
        }
        if second & 0x80 != 0 { frame.maskingKey = UInt32(number(4)) }
        if frame.opcode.isControl { return control.removeAll(keepingCapacity: true) }
        guard frame.length <= limits.frameLength else { throw .frameTooLong }
        if frame.opcode != .continuation { beginMessage() }
        frameCount += 1
        guard frameCount <= limits.frameCount else { throw .tooManyFrames }
        if !isCompressed, frame.length > UInt64(limits.messageLength - content.count) { throw .messageTooLong }
    }

    private func beginMessage() {
        opcode = frame.opcode
        isCompressed = frame.isCompressed
        content = []
        text = UTF8Check()
        frameCount = 0
        compressedCount = 0
    }

    // MARK: Payloads

    private func readPayload(_ input: Span<UInt8>, from offset: inout Int) throws(WebSocketFault) {
        let count = Int(min(UInt64(input.count - offset), frame.length - position))
        if count == 0 { return }
        let piece = input.extracting(offset..<offset + count)
        offset += count
        defer { position += UInt64(count) }
        if frame.opcode.isControl { return append(piece, to: &control) }
        guard isCompressed else {
            let start = content.count
            append(piece, to: &content)
            return try check(from: start)
        }
        var compressed: [UInt8] = []
        append(piece, to: &compressed)
        compressedCount += count
        try inflate(compressed.span, isLast: false)
    }

    private func append(_ piece: Span<UInt8>, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(piece)
        if let key = frame.maskingKey { WebSocketMask.apply(key, to: &bytes, from: start, at: position) }
    }

    /// Faults are reported in the order of the bytes that they are about, however these bytes arrive.
    private func inflate(_ compressed: Span<UInt8>, isLast: Bool) throws(WebSocketFault) {
        guard let inflater else { throw .reservedBit }
        try inflater.inflate(compressed, isLast: isLast, into: &content) { [self] bytes, length in
            let permitted = min(bytes.count, max(0, limits.messageLength - (length - bytes.count)))
            if opcode == .text, !text.accepts(bytes.extracting(first: permitted)) { return .malformedText }
            return length > limits.messageLength ? .messageTooLong : nil
        }
    }

    /// Called at the end of a frame: within it, the ratio depends on how much of the frame has arrived.
    private func checkRatio() throws(WebSocketFault) {
        if content.count > limits.ratioFloor, content.count / limits.ratio > compressedCount { throw .expandsTooMuch }
    }

    private func check(from start: Int) throws(WebSocketFault) {
        guard opcode == .text else { return }
        let bytes = content
        guard text.accepts(bytes.span.extracting(start...)) else { throw .malformedText }
    }

    // MARK: Ends of frames

    private func endFrame() throws(WebSocketFault) -> Event? {
        switch frame.opcode {
        case .ping: return .ping(control)
        case .pong: return .pong(control)
        case .close:
            state = .ended
            return .close(try closing())
        case .text, .binary, .continuation:
            if isCompressed { try checkRatio() }
            return frame.isFinal ? try endMessage() : nil
        }
    }

    private func endMessage() throws(WebSocketFault) -> Event {
        if isCompressed {
            let nothing: [UInt8] = []
            try inflate(nothing.span, isLast: true)
        }
        guard text.isComplete else { throw .malformedText }
        let isText = opcode == .text
        opcode = nil
        var whole: [UInt8] = []
        swap(&whole, &content)
        return .message(isText ? .text(whole) : .binary(whole))
    }

    private func closing() throws(WebSocketFault) -> WebSocketClosing? {
        if control.isEmpty { return nil }
        guard control.count >= 2 else { throw .malformedClose }
        let code = UInt16(control[0]) << 8 | UInt16(control[1])
        guard WebSocketClosing.isPermitted(code) else { throw .malformedClose }
        let reason = Array(control[2...])
        var check = UTF8Check()
        guard check.accepts(reason.span), check.isComplete else { throw .malformedText }
        return WebSocketClosing(code: code, reason: reason)
    }
}
