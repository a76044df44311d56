#!/bin/bash
# 300,000 texts of JSON, half of them damaged, and all other vectors by another seed, as Python makes of them. A seed that fails is named.
set -euo pipefail
folder=${WORK:-$(mktemp -d)}
vectors=$(cd "$(dirname "$0")/../SerializationVectors" && pwd)
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q requests pillow brotli zstandard
seed=${LARDER_VECTOR_SEED:-$RANDOM}
echo "seed $seed (LARDER_VECTOR_SEED)"
"$folder/python/bin/python" "$vectors/make.py" "$folder/vectors.json" 300000 "$seed"
export LARDER_SERIALIZATION_VECTORS=$folder/vectors.json
exec "$(dirname "$0")/../../scripts/test-optimised.sh" --filter SerializationVectorTests
