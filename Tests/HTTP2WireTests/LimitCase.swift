import TestSupport
import Testing

@testable import HTTP2Wire

/// Frames that one limit counts.
struct LimitCase: Sendable, CustomTestStringConvertible {
    let limit: HTTP2Limit
    /// Whether only frames of one `rateWindow` count.
    var isRate = true
    /// Received before.
    var before: [Frame] = []
    /// As many frames as the limit counts.
    let frames: @Sendable (Int) -> [Frame]
    let set: @Sendable (inout HTTP2Limits) -> Void

    var testDescription: String { "\(limit)" }

    private static let open: [Frame] = [.headers(1, FieldBlock.post, end: false)]

    /// Each limit is 5.
    static let all: [LimitCase] = [
        // The prefaces have used up two.
        LimitCase(limit: .settingsFrames, frames: { repeated(.settings(), $0 - 2) }, set: { $0.settingsFrames = 5 }),
        LimitCase(limit: .pingFrames, frames: { repeated(.ping(), $0) }, set: { $0.pingFrames = 5 }),
        LimitCase(limit: .emptyDataFrames, before: open, frames: { repeated(.data(1), $0) }, set: { $0.emptyDataFrames = 5 }),
        LimitCase(limit: .emptyDataFrames, before: open, frames: { repeated(padding, $0) }, set: { $0.emptyDataFrames = 5 }),
        LimitCase(limit: .resetStreams, frames: resets, set: { $0.resetStreams = 5 }),
        LimitCase(limit: .oversizedHeads, frames: oversized, set: { $0.oversizedHeads = 5 }),
        LimitCase(
            limit: .windowUpdateFrames, frames: { repeated(.windowUpdate(0, 1), $0) }, set: { $0.windowUpdateFrames = 5 }),
        LimitCase(limit: .otherFrames, frames: { repeated(.priority(1), $0) }, set: { $0.otherFrames = 5 }),
        LimitCase(limit: .otherFrames, frames: { repeated(Frame(type: 0x77), $0) }, set: { $0.otherFrames = 5 }),
        LimitCase(limit: .otherFrames, frames: { repeated(.priorityUpdate(1, "u=1"), $0) }, set: { $0.otherFrames = 5 }),
        LimitCase(limit: .otherFrames, before: open, frames: { repeated(.goAway(), $0) }, set: { $0.otherFrames = 5 }),
        LimitCase(limit: .continuationFrames, isRate: false, frames: continuations, set: { $0.continuationFrames = 5 }),
        LimitCase(
            limit: .queuedControlFrames, isRate: false, frames: { repeated(.ping(), $0) }, set: { $0.queuedControlFrames = 5 }),
    ]

    private static let padding = Frame(type: 0, flags: Frame.padded, stream: 1, payload: [2, 0, 0])

    private static func repeated(_ frame: Frame, _ count: Int) -> [Frame] { Array(repeating: frame, count: count) }

    @Sendable private static func resets(_ count: Int) -> [Frame] {
        var frames: [Frame] = []
        for index in 0..<UInt32(count) {
            frames.append(.headers(index * 2 + 1, FieldBlock.get))
            frames.append(.reset(index * 2 + 1))
        }
        return frames
    }

    @Sendable private static func oversized(_ count: Int) -> [Frame] {
        (0..<UInt32(count)).map {
            .headers($0 * 2 + 1, block: FieldBlock.bomb(after: FieldBlock.get), flags: Frame.endHeaders | Frame.endStream)
        }
    }

    @Sendable private static func continuations(_ count: Int) -> [Frame] {
        var frames: [Frame] = [.headers(1, block: FieldBlock.literal(FieldBlock.get), flags: Frame.endStream)]
        for index in 1...count { frames.append(.continuation(1, flags: index == count ? Frame.endHeaders : 0)) }
        return frames
    }
}
