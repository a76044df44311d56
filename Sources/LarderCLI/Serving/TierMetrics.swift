import Metrics
import SharedTier

extension TierStatus {
    /// The tier's metrics. docs/operations.md lists them.
    var metrics: [MetricFamily] {
        var lookUps = MetricFamily("larder_shared_lookups", .counter, "Look-ups in the shared tier, by their result.")
        for outcome in LookUpOutcome.allCases {
            lookUps.add([("result", outcome.rawValue)], .count(counts.lookUps[outcome] ?? 0))
        }
        var uploads = MetricFamily("larder_shared_uploads", .counter, "Responses offered to the shared tier, by their result.")
        for outcome in UploadOutcome.allCases {
            uploads.add([("result", outcome.rawValue)], .count(counts.uploads[outcome] ?? 0))
        }
        var refused = MetricFamily(
            "larder_shared_refused_entries", .counter, "Entries of the shared tier that were not used, by the reason.")
        for (reason, count) in counts.refusals.sorted(by: { $0.key < $1.key }) {
            refused.add([("reason", reason)], .count(count))
        }
        var open = MetricFamily("larder_shared_engine_up", .gauge, "1 if an engine of the shared tier is connected, else 0.")
        for engine in engines { open.add([("engine", engine.address)], .count(engine.isOpen ? 1 : 0)) }
        return [
            lookUps, uploads, refused, open,
            MetricFamily(
                "larder_shared_current", .gauge, "1 while this node has a lease in its farm and has applied all purges, else 0.",
                .count(isCurrent ? 1 : 0)),
            MetricFamily(
                "larder_shared_uploaded_bytes", .counter, "Bytes of entries written to the shared tier.",
                .count(counts.uploadedBytes)),
            MetricFamily(
                "larder_shared_downloaded_bytes", .counter, "Bytes of entries read from the shared tier.",
                .count(counts.downloadedBytes)),
            MetricFamily(
                "larder_shared_purges", .counter, "Purges of the farm that this node has applied.", .count(counts.purges)),
        ]
    }
}
