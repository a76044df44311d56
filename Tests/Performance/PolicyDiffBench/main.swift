import Foundation

exit(PolicyDiffBench.run() ? 0 : 1)
