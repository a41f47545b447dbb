//! The partitions of AWS: groups of regions with accounts, ARNs and domains of their own.

/// One partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// Its word in ARNs, such as `aws-us-gov`.
    pub name: &'static str,
    /// The domain below which its endpoints lie.
    pub suffix: &'static str,
    /// The domain of endpoints that also speak IPv6; empty where there are none.
    pub dual_stack_suffix: &'static str,
    /// The region that serves what belongs to no region, and signs for it.
    pub global_region: &'static str,
    /// How its regions begin.
    prefixes: &'static [&'static str],
}

/// Every partition; the first one is that of regions that nobody knows yet.
pub const PARTITIONS: [Partition; 8] = [
    Partition {
        name: "aws",
        suffix: "amazonaws.com",
        dual_stack_suffix: "api.aws",
        global_region: "us-east-1",
        prefixes: &[
            "us-", "eu-", "ap-", "sa-", "ca-", "me-", "af-", "il-", "mx-",
        ],
    },
    Partition {
        name: "aws-cn",
        suffix: "amazonaws.com.cn",
        dual_stack_suffix: "api.amazonwebservices.com.cn",
        global_region: "cn-north-1",
        prefixes: &["cn-"],
    },
    Partition {
        name: "aws-us-gov",
        suffix: "amazonaws.com",
        dual_stack_suffix: "api.aws",
        global_region: "us-gov-west-1",
        prefixes: &["us-gov-"],
    },
    Partition {
        name: "aws-iso",
        suffix: "c2s.ic.gov",
        dual_stack_suffix: "api.aws.ic.gov",
        global_region: "us-iso-east-1",
        prefixes: &["us-iso-"],
    },
    Partition {
        name: "aws-iso-b",
        suffix: "sc2s.sgov.gov",
        dual_stack_suffix: "api.aws.scloud",
        global_region: "us-isob-east-1",
        prefixes: &["us-isob-"],
    },
    Partition {
        name: "aws-iso-e",
        suffix: "cloud.adc-e.uk",
        dual_stack_suffix: "api.cloud-aws.adc-e.uk",
        global_region: "eu-isoe-west-1",
        prefixes: &["eu-isoe-"],
    },
    Partition {
        name: "aws-iso-f",
        suffix: "csp.hci.ic.gov",
        dual_stack_suffix: "api.aws.hci.ic.gov",
        global_region: "us-isof-south-1",
        prefixes: &["us-isof-"],
    },
    Partition {
        name: "aws-eusc",
        suffix: "amazonaws.eu",
        dual_stack_suffix: "api.amazonwebservices.eu",
        global_region: "eusc-de-east-1",
        prefixes: &["eusc-"],
    },
];

impl Partition {
    /// The partition of a region: the one with the longest fitting beginning, else `aws`.
    pub fn of_region(region: &str) -> Self {
        let length = |partition: &Self| {
            let fits = partition
                .prefixes
                .iter()
                .filter(|p| region.starts_with(**p));
            fits.map(|prefix| prefix.len()).max().unwrap_or(0)
        };
        let mut best = PARTITIONS[0];
        for partition in PARTITIONS {
            if length(&partition) > length(&best) {
                best = partition;
            }
        }
        best
    }

    /// The partition of that name in ARNs.
    pub fn named(name: &str) -> Option<Self> {
        PARTITIONS.into_iter().find(|known| known.name == name)
    }
}

/// True for what can be the name of a region: it becomes part of host names.
pub fn is_region(name: &str) -> bool {
    let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= 63 && name.chars().all(valid) && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_fall_into_their_partition() {
        for (region, partition) in [
            ("eu-west-1", "aws"),
            ("us-east-1", "aws"),
            ("us-gov-west-1", "aws-us-gov"),
            ("us-iso-east-1", "aws-iso"),
            ("us-isob-east-1", "aws-iso-b"),
            ("eu-isoe-west-1", "aws-iso-e"),
            ("us-isof-south-1", "aws-iso-f"),
            ("cn-northwest-1", "aws-cn"),
            ("eusc-de-east-1", "aws-eusc"),
            ("xx-new-9", "aws"),
            ("", "aws"),
        ] {
            assert_eq!(Partition::of_region(region).name, partition, "{region}");
        }
        for partition in PARTITIONS {
            let own = Partition::of_region(partition.global_region);
            assert_eq!(own, partition);
            assert_eq!(Partition::named(partition.name), Some(partition));
        }
        assert_eq!(Partition::named("aws-moon"), None);
    }

    #[test]
    fn names_that_would_leave_the_host_are_no_regions() {
        assert!(is_region("us-gov-west-1"));
        for bad in ["", "EU-west-1", "eu.west", "a/b", "-x", "eu west", "é"] {
            assert!(!is_region(bad), "{bad}");
        }
    }
}
