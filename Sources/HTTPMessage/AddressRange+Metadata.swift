extension AddressRange {
    /// Addresses that no request should reach: link-local addresses, and the cloud services that give machines metadata and credentials
    /// (T03).
    package static let metadataServices: [AddressRange] = [
        // 169.254.169.254 of most clouds, 169.254.170.2 of Amazon ECS, 169.254.42.42 of Scaleway.
        "169.254.0.0/16", "fe80::/10",
        // Amazon EC2 (::254) and EKS Pod Identity (::23): EC2 User Guide, "Access instance metadata"; EKS User Guide, "Pod Identity".
        "fd00:ec2::/32",
        // Google Compute Engine: "View and query VM metadata", instances with IPv6 alone.
        "fd20:ce::254",
        // Microsoft Azure: "What is IP address 168.63.129.16?" (WireServer).
        "168.63.129.16",
        // Alibaba Cloud ECS: "Instance metadata"; the second address is in cloud-init's AliYun data source.
        "100.100.100.200", "fd00:100::100:200",
        // Oracle Cloud Infrastructure: "Getting Instance Metadata"; also in its SDK, in the signer of instance principals.
        "fd00:c1::a9fe:a9fe",
        // Scaleway and Akamai (Linode): cloud-init's data sources of these names.
        "fd00:42::42", "fd00:a9fe:a9fe::1",
    ].compactMap { AddressRange($0) }
}
