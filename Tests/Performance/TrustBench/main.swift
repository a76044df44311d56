TrustBench.main()
