//! Which found resource an address of a plan may have made, where no name tells: the provider gives such
//! resources an id of the cloud's own, so only their tags lead to them.

use crate::identity::Arn;

/// What the provider imports a resource by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// The last part of its ARN.
    Id,
    /// All of it.
    Arn,
}

/// Types that are tagged by the very call that makes them: how their ARN begins, and what imports them.
const TAGGED: &[(&str, &str, &str, By)] = &[
    (
        "aws_cloudfront_distribution",
        "cloudfront",
        "distribution",
        By::Id,
    ),
    ("aws_customer_gateway", "ec2", "customer-gateway", By::Id),
    ("aws_ebs_volume", "ec2", "volume", By::Id),
    (
        "aws_efs_file_system",
        "elasticfilesystem",
        "file-system",
        By::Id,
    ),
    (
        "aws_egress_only_internet_gateway",
        "ec2",
        "egress-only-internet-gateway",
        By::Id,
    ),
    ("aws_eip", "ec2", "elastic-ip", By::Id),
    ("aws_instance", "ec2", "instance", By::Id),
    ("aws_internet_gateway", "ec2", "internet-gateway", By::Id),
    ("aws_kms_key", "kms", "key", By::Id),
    ("aws_launch_template", "ec2", "launch-template", By::Id),
    ("aws_lb", "elasticloadbalancing", "loadbalancer", By::Arn),
    (
        "aws_lb_target_group",
        "elasticloadbalancing",
        "targetgroup",
        By::Arn,
    ),
    ("aws_nat_gateway", "ec2", "natgateway", By::Id),
    ("aws_network_acl", "ec2", "network-acl", By::Id),
    ("aws_network_interface", "ec2", "network-interface", By::Id),
    ("aws_route_table", "ec2", "route-table", By::Id),
    (
        "aws_secretsmanager_secret",
        "secretsmanager",
        "secret",
        By::Arn,
    ),
    ("aws_security_group", "ec2", "security-group", By::Id),
    ("aws_subnet", "ec2", "subnet", By::Id),
    ("aws_vpc", "ec2", "vpc", By::Id),
    ("aws_vpc_dhcp_options", "ec2", "dhcp-options", By::Id),
    ("aws_vpc_endpoint", "ec2", "vpc-endpoint", By::Id),
    (
        "aws_vpc_peering_connection",
        "ec2",
        "vpc-peering-connection",
        By::Id,
    ),
    ("aws_vpn_gateway", "ec2", "vpn-gateway", By::Id),
];

/// True for a type that only its tags lead to.
pub fn is_found_by_tags(kind: &str) -> bool {
    TAGGED.iter().any(|(known, ..)| *known == kind)
}

/// The import ids of the resources of a type among those that carry the session's tags.
pub fn import_ids<'a>(kind: &str, arns: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let Some((_, service, head, by)) = TAGGED.iter().find(|(known, ..)| *known == kind) else {
        return Vec::new();
    };
    let id = |arn: &str| {
        let parsed: Arn = arn.parse().ok()?;
        let rest = parsed.resource.strip_prefix(head)?;
        let rest = rest.strip_prefix(['/', ':'])?;
        (parsed.service == *service).then(|| match by {
            By::Id => rest.to_owned(),
            By::Arn => arn.to_owned(),
        })
    };
    arns.into_iter().filter_map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_service_and_head_alone() {
        let arns = [
            "arn:aws:ec2:eu-west-1:111122223333:vpc/vpc-1",
            "arn:aws:ec2:eu-west-1:111122223333:vpc-endpoint/vpce-1",
            "arn:aws:ec2:eu-west-1:111122223333:vpc/vpc-2",
            "arn:aws:secretsmanager:eu-west-1:111122223333:secret:shop-a-Ab12Cd",
            "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/shop/1f",
            "no ARN",
        ];
        assert_eq!(import_ids("aws_vpc", arns), ["vpc-1", "vpc-2"]);
        assert_eq!(import_ids("aws_vpc_endpoint", arns), ["vpce-1"]);
        assert_eq!(import_ids("aws_secretsmanager_secret", arns), [arns[3]]);
        assert_eq!(import_ids("aws_lb", arns), [arns[4]]);
        assert!(import_ids("aws_subnet", arns).is_empty());
        assert!(
            import_ids("aws_iam_role", arns).is_empty(),
            "its name is enough"
        );
    }

    #[test]
    fn no_type_is_found_in_two_ways() {
        let at = crate::substrate::Whereabouts {
            partition: "aws",
            account: "111122223333",
            region: "eu-west-1",
        };
        for (kind, ..) in TAGGED {
            assert_eq!(crate::substrate::import_id(kind, "x", at), None, "{kind}");
        }
        assert!(TAGGED.is_sorted_by_key(|(kind, ..)| *kind));
    }
}
