/// The known state of the free space on the disk.
struct DiskRoom {
    /// How many times deleting may fail before the file is emptied.
    static let attemptLimit = 4
    /// The number of steps in which the freed pages of the file are released to the disk, 4 MiB in each step.
    static let vacuumSteps = 8
    /// How long the store stays below the size at which the disk was full.
    private static let memoryMilliseconds: Int64 = 600_000

    let reservedSpace: ReservedSpace
    private let configured: StoreConfiguration.Marks
    private var learned: StoreConfiguration.Marks?
    private var learnedAt: Int64 = 0
    private(set) var isMakingRoom = false
    /// How many times the disk was full while space was being freed.
    private(set) var attempts = 0

    init(_ configuration: StoreConfiguration) {
        configured = configuration.disk
        reservedSpace = ReservedSpace(besideStoreAt: configuration.path, length: configuration.limits.reservedSpaceBytes)
    }

    /// The marks that apply: the configured marks, or lower marks while the disk has less space.
    var marks: (high: Int64, low: Int64) {
        let marks = learned ?? configured
        return (Int64(marks.high), Int64(marks.low))
    }

    mutating func diskIsFull(_ totals: Totals) {
        if isMakingRoom {
            attempts += 1
            return
        }
        isMakingRoom = true
        attempts = 0
        let bytes = Int(totals.bytes)
        let high = min(configured.high, bytes - bytes / 8)
        learned = StoreConfiguration.Marks(high: high, low: min(configured.low, bytes - bytes / 4))
    }

    mutating func didMakeRoom(now: Int64) {
        isMakingRoom = false
        attempts = 0
        learnedAt = now
    }

    mutating func retireLearnedMark(now: Int64) {
        guard learned != nil, !isMakingRoom, now - learnedAt >= DiskRoom.memoryMilliseconds else { return }
        learned = nil
        reservedSpace.make()
    }
}
