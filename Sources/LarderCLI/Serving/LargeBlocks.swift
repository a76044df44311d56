import CLinux

/// The memory of freed large bodies.
enum LargeBlocks {
    /// In bytes: above the blocks that are allocated and freed all the time, below the bodies that rules transform.
    private static let block: Int32 = 1 << 20
    private static let end: Int32 = 8 << 20

    /// Makes the C library return it to the system at once, for the whole process. Has no effect if the C library does not support that.
    static func giveBack() { _ = larder_give_back_blocks(block, end) }
}
