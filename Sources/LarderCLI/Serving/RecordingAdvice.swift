import Foundation
import Snapshots

extension SnapshotError {
    /// Why a recording cannot begin, and what the user can do about it: in the options of `larder record`, and in settings for `larder serve`.
    /// - Parameter path: the finished file, which may not exist yet.
    func advice(recordingInto path: String) -> String {
        if case .exists = self {
            return "\(description): add to it (--append, or --missing for new requests only) or replace it (--overwrite); "
                + "for a server, `record.existing: append` or `overwrite`"
        }
        return description
    }
}
