import CLarderLinux

/// How the memory of large bodies is returned to the system after they are freed.
enum LargeBlocks {
    /// The smallest block that is returned, in bytes: larger than blocks that are often allocated and freed, smaller than most bodies that
    /// rules transform.
    private static let block: Int32 = 1 << 20
    private static let end: Int32 = 8 << 20

    /// Makes the C library return the memory of large freed blocks to the system at once, for the whole process. Has no effect if the C
    /// library does not support that.
    static func giveBack() { _ = larder_give_back_blocks(block, end) }
}
