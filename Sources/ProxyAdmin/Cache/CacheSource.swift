import HTTPCaching
import HTTPMessage
import ResponseStore

/// The source of information on stored responses: the store of this process, or a store's file that no process has open. The commands of
/// `larder cache` give the same output for either.
///
/// Each call takes about 50 ms at most, and leaves nothing open.
package struct CacheSource {
    /// Selects a response.
    package enum Place: Sendable {
        case url(URLPattern)
        case row(StoredRowID)
    }

    let list: (StoreFilter, Timestamp) -> StoreListing
    /// `page`, `responses`, `piece`, `verify` and `chains` return `nil` if the file cannot be read.
    let page: (StoreListing) -> StorePage?
    /// Complete responses first, newest first. In a running store their bodies stay on disk while these values exist.
    let responses: (Place) -> [FoundResponse]?
    let piece: (BodyReference, UInt64) -> [UInt8]?
    let verify: (StoreVerification) -> StoreVerification?
    let chains: (ChainListing) -> ChainListing?
    /// Whether no process changes the store while this source reads it.
    let isAlone: Bool

    /// The responses of one URL, or the response with one row number: complete responses first, newest first.
    package func find(_ place: Place) -> [FoundResponse]? { responses(place) }

    /// - Returns: `false` if the file cannot be read to the end.
    package func forEach(
        _ filter: StoreFilter, at now: Timestamp, _ body: (StoredEntry) throws -> Void
    ) rethrows -> Bool {
        var listing: StoreListing? = list(filter, now)
        while let place = listing {
            guard let page = page(place) else { return false }
            for entry in page.entries { try body(entry) }
            listing = page.next
        }
        return true
    }

    package init(_ store: ResponseStore) {
        isAlone = false
        list = { store.listNow($0, at: $1) }
        page = { store.pageNow($0) }
        responses = { place in
            switch place {
            case .url(let url):
                if let found = store.inMemory(url) { return found.map(FoundResponse.init) + store.partials(of: url) }
            case .row(let row): if let found = store.inMemoryAlone(row: row) { return [FoundResponse(found)] }
            }
            return store.browseNow { (browser) throws(StoreError) in try browser.responses(at: place) }
        }
        piece = { body, offset in
            store.browseNow { (browser) throws(StoreError) in try browser.piece(of: body, at: offset).map { Array($0) } } ?? nil
        }
        verify = { verification in
            store.browseNow { (browser) throws(StoreError) in
                var verification = verification
                try browser.verify(&verification)
                return verification
            }
        }
        chains = { store.readNow($0) }
    }

    /// - Parameter failed: called with the reason why the file cannot be read.
    package init(_ browser: StoreBrowser, failed: @escaping (StoreError) -> Void) {
        func attempt<Value>(_ look: () throws(StoreError) -> Value) -> Value? {
            do { return try look() } catch {
                failed(error)
                return nil
            }
        }
        isAlone = true
        list = { StoreListing($0, at: $1) }
        page = { listing in attempt { () throws(StoreError) in try browser.page(listing) } }
        responses = { place in attempt { () throws(StoreError) in try browser.responses(at: place) } }
        piece = { body, offset in
            attempt { () throws(StoreError) in try browser.piece(of: body, at: offset).map { Array($0) } } ?? nil
        }
        verify = { verification in
            attempt { () throws(StoreError) in
                var verification = verification
                try browser.verify(&verification)
                return verification
            }
        }
        chains = { listing in
            attempt { () throws(StoreError) in
                var listing = listing
                try browser.read(&listing)
                return listing
            }
        }
    }

    /// The source for a file that cannot be read at all: a verification reports that, and all other calls fail.
    /// - Parameter failed: called with the reason.
    package init(damaged error: StoreError, failed: @escaping (StoreError) -> Void) {
        isAlone = true
        list = { StoreListing($0, at: $1) }
        page = { _ in
            failed(error)
            return nil
        }
        responses = { _ in
            failed(error)
            return nil
        }
        piece = { _, _ in nil }
        verify = { _ in StoreVerification(damaged: error) }
        chains = { _ in
            failed(error)
            return nil
        }
    }
}

extension StoreBrowser {
    fileprivate func responses(at place: CacheSource.Place) throws(StoreError) -> [FoundResponse] {
        switch place {
        case .url(let url): return try url.exactKey.map { (key) throws(StoreError) in try found(underKey: key) } ?? []
        case .row(let row):
            guard let key = try key(inRow: row) else { return [] }
            return try found(underKey: key).filter { $0.response.row == row }
        }
    }

    private func found(underKey key: [UInt8]) throws(StoreError) -> [FoundResponse] {
        try responses(ofKey: key).map(FoundResponse.init) + partials(ofKey: key).map(FoundResponse.init)
    }
}

extension ResponseStore {
    fileprivate func partials(of url: URLPattern) -> [FoundResponse] {
        url.exactKey.map { partials(of: $0).map(FoundResponse.init) } ?? []
    }
}
