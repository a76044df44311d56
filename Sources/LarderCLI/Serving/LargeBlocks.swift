import CLinux

/// What becomes of the memory that large bodies have taken.
enum LargeBlocks {
    /// In octets: above what is made and let go of all the time, below the bodies that rules have something made of.
    private static let block: Int32 = 1 << 20
    private static let end: Int32 = 8 << 20

    /// Has it given back to the system at once, for the whole process. Where the C library knows no such thing, it stays as it is.
    static func giveBack() { _ = larder_give_back_blocks(block, end) }
}
