try TrustBench.main()
