import sys

import requests

r = requests.get(sys.argv[1], verify=sys.argv[3])
r.raise_for_status()
open(sys.argv[2], "wb").write(r.content)
