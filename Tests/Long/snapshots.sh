#!/bin/bash
# Snapshots (T46): 10,000 flipped bits, 200 hostile files, 50 writers killed; and both roots by a reader over apsw, another build of SQLite.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LARDER_FLIPS=10000 LARDER_HOSTILE_FILES=200 LARDER_KILLS=50
scripts/test-optimised.sh --filter SnapshotsTests

folder=$(mktemp -d -p "${WORK:-${TMPDIR:-/tmp}}")
trap 'rm -rf "$folder"' EXIT
swift build -c release --static-swift-stdlib --omit-frame-pointers --product SnapshotTorture
torture=$(swift build -c release --static-swift-stdlib --show-bin-path)/SnapshotTorture
"$torture" record "$folder/some.larder" 5000 | sort > "$folder/ours"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet apsw
"$folder/venv/bin/python" Tests/Long/snapshot_roots.py --apsw "$folder/some.larder" | sort > "$folder/theirs"
diff "$folder/ours" "$folder/theirs"
echo "apsw computes the same roots: $(tr '\n' ' ' < "$folder/ours")"
