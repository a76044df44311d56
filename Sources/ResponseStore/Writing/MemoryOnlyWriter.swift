/// Replaces the writer in a store that writes no file: evicts from memory, and stores completed bodies. Confined to its thread.
final class MemoryOnlyWriter {
    private let core: StoreCore
    private var hand = ClockHand()
    private let start = Clock.monotonicMilliseconds()

    init(_ core: StoreCore) { self.core = core }

    func run() {
        while true {
            switch core.queue.next(waitingAtMost: 1000) {
            case .work(let operations): perform(operations)
            case .quiet: break
            case .stopping(let operations):
                perform(operations)
                for pending in core.pendingResponses.all {
                    core.pendingResponses.remove(pending)
                    pending.didEnd(.notStored)
                }
                return
            }
            core.memory.advance(to: UInt32(truncatingIfNeeded: (Clock.monotonicMilliseconds() - start) / 1000))
            if core.memory.byteCount > core.configuration.memory.high {
                core.counters.memoryEvicted.wrappingAdd(core.memory.evict(hand: &hand), ordering: .relaxed)
            }
            core.pendingResponses.lookAfter(now: Clock.monotonicMilliseconds())
        }
    }

    private func perform(_ operations: [WriterOperation]) {
        for operation in operations {
            switch operation {
            case .pending(let pending): while let work = pending.takeWork() { pending.endUnstored(work) }
            case .purge(let work):
                core.purges.retire(work.purge)
                work.report(.inEffect)
                work.report(.done(count: work.inMemoryAlone))
            case .lookUp(let job): if !core.readers.add(.lookUp(job)) { job.answer(.unavailable) }
            // The other operations change a file, and this store writes none.
            default: break
            }
        }
    }
}
