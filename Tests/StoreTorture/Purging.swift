import CLarderLinux
import Glibc
import HTTPMessage
import ResponseStore

/// Purges that are acknowledged just before the process is killed.
extension StoreTorture {
    private static let count = 4000

    /// Stores a round of responses and purges them, again and again, and says after each acknowledgement which round it was.
    static func purge(_ path: String) throws {
        let store = try open(path)
        for round in 0... {
            for number in 0..<count { store.putSurely(round, number) }
            var filter = StoreFilter()
            precondition(filter.set(.url, to: "http://torture.test/p\(round)/*"))
            let report = PurgeReport()
            store.purge(.matching(filter), at: Timestamp(seconds: 1_700_000_000), report: report.take)
            guard case .inEffect = report.next() else { exit(1) }
            print(round)
            fflush(nil)
            // The kill comes here or in the next round; what is not purged has to be there.
            store.putSurely(round, count)
        }
    }

    /// Fails unless nothing of the rounds up to the last one acknowledged is there, in the file as it stands and in the store.
    static func verifyPurged(_ path: String, last: Int) throws {
        var listed = 0
        let browser = try StoreBrowser(path: path)
        var listing: StoreListing? = StoreListing(StoreFilter(), at: Timestamp(seconds: 1_700_000_000))
        while let place = listing {
            let page = try browser.page(place)
            for entry in page.entries {
                let name = String(decoding: entry.key, as: UTF8.self).split(separator: "/").dropFirst(2)
                let isPurged = Int(name.first?.dropFirst() ?? "").map { $0 <= last } ?? true
                if isPurged, name.last != "\(count)" { listed += 1 }
            }
            listing = page.next
        }
        let store = try open(path)
        var found = 0
        for round in 0...max(0, last) {
            for number in stride(from: 0, to: count, by: 97) where Self.has(store, purgedKey(round, number)) { found += 1 }
        }
        store.shutdown()
        print("of what was purged up to round \(last): listed \(listed), found \(found)")
        exit(listed == 0 && found == 0 ? 0 : 1)
    }

    static func purgedKey(_ round: Int, _ number: Int) -> [UInt8] { Array("http://torture.test:80/p\(round)/\(number)".utf8) }

    private static func has(_ store: ResponseStore, _ key: [UInt8]) -> Bool {
        switch store.inMemory(key.span) {
        case .found: return true
        case .absent: return false
        case .unknown: break
        }
        let result: LookUpResult? = wait { reply in store.lookUp(key, reply: reply) }
        if case .found = result { return true }
        return false
    }
}

extension ResponseStore {
    fileprivate func putSurely(_ round: Int, _ number: Int) {
        let key = StoreTorture.purgedKey(round, number)
        while case .busy = put(StoreTorture.response(key, body: key)) { usleep(1000) }
    }
}
