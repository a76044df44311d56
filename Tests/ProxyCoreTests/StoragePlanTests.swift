import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

@Suite("Where the content of a stored response goes")
struct StoragePlanTests {
    @Test(
        "Content up to the limit is gathered; longer content, or content cut for its client, is streamed",
        arguments: [
            (BodyLength.none, false, StoragePlan.gather(length: nil)),
            (.unknown, false, .gather(length: nil)),
            (.known(0), false, .gather(length: 0)),
            (.known(100), false, .gather(length: 100)),
            (.known(101), false, .stream(length: 101)),
            (.known(100), true, .stream(length: 100)),
            (.unknown, true, .gather(length: nil)),
        ])
    func chooses(body: BodyLength, cutsPart: Bool, plan: StoragePlan) {
        #expect(StoragePlan(body: body, part: nil, cutsPart: cutsPart, gatheredLength: 100) == plan)
    }

    private static let part = RangeState.Part(start: 10, whole: 1000)

    @Test("A part is always streamed")
    func streamsParts() {
        let plan = StoragePlan(body: .known(5), part: Self.part, cutsPart: false, gatheredLength: 100)
        #expect(plan == .streamPart(Self.part, length: 5))
    }

    @Test("A complete body is rejected if its key was invalidated or it is too long for the store")
    func admitsWhole() {
        let plan = StoragePlan.stream(length: 100)
        #expect(plan.admission(isInvalidated: false, isStorable: true, greatestLength: 100) == .offer)
        #expect(
            plan.admission(isInvalidated: false, isStorable: true, greatestLength: 99)
                == .reject(StorageRejection(.bodyTooLarge, joined: .fetchThemselves)))
        #expect(
            plan.admission(isInvalidated: true, isStorable: true, greatestLength: 100)
                == .reject(StorageRejection(.invalidated, joined: .askAnew)))
        #expect(plan.admission(isInvalidated: false, isStorable: false, greatestLength: 100) == .passOn)
        let unknown = StoragePlan.stream(length: nil)
        #expect(unknown.admission(isInvalidated: false, isStorable: true, greatestLength: 0) == .offer)
        #expect(plan.rejectionByStore == StorageRejection(.storeBusy, isCounted: true, joined: .fetchThemselves))
    }

    @Test("For a part, the length of the complete body is checked, and a rejection is reported as an unstored part")
    func admitsParts() {
        let plan = StoragePlan.streamPart(Self.part, length: 5)
        let rejected = StorageRejection(.partialContent, isCounted: true, joined: .wait)
        #expect(plan.admission(isInvalidated: false, isStorable: true, greatestLength: 1000) == .offer)
        #expect(
            plan.admission(isInvalidated: false, isStorable: true, greatestLength: 999)
                == .reject(StorageRejection(.bodyTooLarge, joined: .wait)))
        #expect(plan.admission(isInvalidated: true, isStorable: true, greatestLength: 1000) == .reject(rejected))
        #expect(plan.admission(isInvalidated: false, isStorable: false, greatestLength: 1000) == .reject(rejected))
        #expect(plan.rejectionByStore == rejected)
    }

    @Test("Only a body that is too long removes the stored responses that it would have replaced")
    func removesReplaced() {
        #expect(StorageRejection.tooLarge.removesReplaced && StorageRejection.tooLargeForStore.removesReplaced)
        #expect(!StorageRejection.invalidated.removesReplaced && !StorageRejection.busy.removesReplaced)
    }

    @Test("The exchange plans by its response, and rejects bodies longer than its rules allow")
    func asksTheExchange() throws {
        let book = try Playbook(rules: [["cache": ["max_size": "10"]]])
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)], .found([]), [.joinFetch], .leads, [.fetch],
            .response(200, "Transfer-Encoding: chunked", "Cache-Control: max-age=60"), [.relay(store: true)])
        let plan = book.exchange.storagePlan
        #expect(plan == .gather(length: nil))
        let (kept, tooLong) = (book.exchange.rejection(ofLength: 10), book.exchange.rejection(ofLength: 11))
        #expect(kept == nil && tooLong == .tooLarge)
        let (gathers, streams) = (book.exchange.gathers(16 * 1024), !book.exchange.gathers(16 * 1024 + 1))
        #expect(gathers && streams)
    }

    @Test("Memory is checked again only for a key without stored responses")
    func looksAgain() throws {
        let book = try Playbook()
        try book.run(.request("GET http://a.example/x"), [.lookUp(onDisk: false)], .found([]), [.joinFetch])
        let isMissing = book.exchange.looksAgainWhenLeading
        let stale = try Playbook()
        let stored = try Messages.stored("Cache-Control: max-age=60", "ETag: \"v1\"", age: 70)
        try stale.run(.request("GET http://a.example/x"), [.lookUp(onDisk: false)], .found([stored]), [.joinFetch])
        let isStale = stale.exchange.looksAgainWhenLeading
        #expect(isMissing && !isStale)
    }

    @Test("A tunnel that a rule forbids needs no connection; any other tunnel needs one, in any mode")
    func closesTunnels() throws {
        let book = try Playbook(rules: [["mode": "offline"]])
        try book.run(.request("CONNECT a.example:443"), [.openTunnel])
        let fault = book.exchange.tunnelFault
        #expect(fault == .offlineMiss(detail: "tunnel"))
        let open = Playbook(context: ExchangeContext(rules: .empty, mode: .offline))
        try open.run(.request("CONNECT a.example:443"), [.openTunnel])
        let none = open.exchange.tunnelFault
        #expect(none == nil)
    }
}

@Suite("A fetch whose client has left (C14)")
struct FetchDemandTests {
    private func body(
        _ received: UInt64, of length: UInt64? = 100, isKept: Bool = true, isOverlapped: Bool = false, readers: Int = 0
    ) -> FetchDemand.Body {
        FetchDemand.Body(
            length: length, receivedCount: received, isKept: isKept, isOverlapped: isOverlapped, readerCount: readers)
    }

    private func isWanted(_ body: FetchDemand.Body?, isAwaited: Bool = false, isForStore: Bool = false) -> Bool {
        FetchDemand(isAwaited: isAwaited, isForStore: isForStore, body: body).isThere
    }

    @Test("The fetch continues for waiting requests and for readers of its body")
    func goesOnForOthers() {
        #expect(!isWanted(nil) && isWanted(nil, isAwaited: true))
        #expect(!isWanted(body(0)) && isWanted(body(0, readers: 1)))
    }

    @Test("The fetch continues if four fifths of a storable body have arrived and no other fetch brings the rest")
    func goesOnForTheStore() {
        #expect(!isWanted(body(79)) && isWanted(body(80)))
        #expect(!isWanted(body(80, isKept: false)) && !isWanted(body(80, isOverlapped: true)) && !isWanted(body(80, of: nil)))
    }

    @Test("The fetch continues for the store once a client has its part of the body")
    func goesOnForTheWhole() {
        #expect(isWanted(body(0), isForStore: true))
        #expect(!isWanted(body(0, isKept: false), isForStore: true) && !isWanted(nil, isForStore: true))
    }

    @Test("A background exchange continues until it has finished")
    func goesOnInBackground() throws {
        let book = try Playbook()
        let stale = try Messages.stored("Cache-Control: max-age=60, stale-while-revalidate=60", "ETag: \"v1\"", age: 70)
        try book.run(
            .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
            .found([stale]), [.sendStored, .validateInBackground], .delivered, [.finish])
        let nobody = FetchDemand(isAwaited: false, isForStore: false, body: nil)
        let background = book.validating()
        let before = (book.exchange.isWanted(by: nobody), background.exchange.isWanted(by: nobody))
        #expect(before == (false, true))
        try background.run(.validates, [.fetch], .clientGone, [.cancelUpstream, .finish])
        let after = background.exchange.isWanted(by: nobody)
        #expect(!after)
    }
}
