//! What carries a scope's tags, by the tagging API of every enabled region.

use cp9_model::Scope;
use cp9_model::identity::Arn;
use cp9_model::scope::{TAG_OWNER, TAG_SESSION};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::client::Aws;
use super::error::AwsError;
use super::paginate::Paging;
use super::protocol::{ApiCall, list, text};

/// Regions that are asked at the same time.
const IN_FLIGHT: usize = 4;
/// The most that one page holds.
const PAGE: u32 = 100;

/// A resource that the tagging API lists for a scope. What was deleted a moment ago may still be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tagged {
    /// Its ARN.
    pub arn: String,
    /// The region it was found in first.
    pub region: String,
}

impl Tagged {
    /// Its type as `service:kind`, such as `sqs:queue`; the service alone where the ARN says no more.
    pub fn kind(&self) -> String {
        let Ok(arn) = self.arn.parse::<Arn>() else {
            return "unknown".into();
        };
        let head = arn.resource.split(['/', ':']).next().unwrap_or_default();
        if head.is_empty() || head == arn.resource {
            arn.service
        } else {
            format!("{}:{head}", arn.service)
        }
    }
}

/// The call that lists what carries the scope's tags.
pub(super) fn resources(scope: &Scope, page: u32) -> ApiCall {
    let input = json!({
        "TagFilters": [
            {"Key": TAG_OWNER, "Values": [scope.owner.as_str()]},
            {"Key": TAG_SESSION, "Values": [scope.session.as_str()]},
        ],
        "ResourcesPerPage": page,
    });
    let target = "ResourceGroupsTaggingAPI_20170126";
    ApiCall::json("tagging", target, "GetResources", input)
}

/// The regions that the account has enabled.
pub async fn regions(aws: &Aws) -> Result<Vec<String>, AwsError> {
    let reply = aws.call(&ApiCall::ec2("DescribeRegions")).await?;
    let names = reply.list("regionInfo.regionName");
    let mut names: Vec<String> = names
        .into_iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    names.push(aws.region().to_owned());
    names.sort();
    names.dedup();
    Ok(names)
}

/// Everything that carries the scope's tags in any enabled region. A region that cannot be looked at is an
/// error, never an empty list.
pub async fn tagged(aws: &Aws, scope: &Scope) -> Result<Vec<Tagged>, AwsError> {
    let mut waiting = regions(aws).await?.into_iter();
    let mut asked = JoinSet::new();
    let mut found: Vec<Tagged> = Vec::new();
    loop {
        while asked.len() < IN_FLIGHT {
            let Some(region) = waiting.next() else { break };
            let (aws, scope) = (aws.in_region(&region), scope.clone());
            asked.spawn(async move { in_region(&aws, &scope, &region).await });
        }
        match asked.join_next().await {
            None => break,
            Some(Ok(answer)) => found.extend(answer?),
            Some(Err(panicked)) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }
    found.sort_by(|one, other| (&one.arn, &one.region).cmp(&(&other.arn, &other.region)));
    found.dedup_by(|later, earlier| later.arn == earlier.arn);
    Ok(found)
}

/// What carries the scope's tags in the client's own region.
pub async fn tagged_here(aws: &Aws, scope: &Scope) -> Result<Vec<Tagged>, AwsError> {
    in_region(aws, scope, aws.region()).await
}

async fn in_region(aws: &Aws, scope: &Scope, region: &str) -> Result<Vec<Tagged>, AwsError> {
    let paging = Paging::token("PaginationToken", "PaginationToken");
    let pages = aws.pages(&resources(scope, PAGE), &paging).await?;
    let rows = pages
        .iter()
        .flat_map(|page| list(&page.body, "ResourceTagMappingList"))
        .filter(|row| carries(row, scope));
    let tagged = rows.filter_map(|row| {
        Some(Tagged {
            arn: text(row, "ResourceARN")?.to_owned(),
            region: region.to_owned(),
        })
    });
    Ok(tagged.collect())
}

/// What lost its tags stays listed for a while with none.
fn carries(row: &Value, scope: &Scope) -> bool {
    let has = |key: &str, value: &str| {
        let tags = list(row, "Tags").into_iter();
        let mut same = tags.filter(|tag| text(tag, "Key") == Some(key));
        same.any(|tag| text(tag, "Value") == Some(value))
    };
    has(TAG_OWNER, scope.owner.as_str()) && has(TAG_SESSION, scope.session.as_str())
}

#[cfg(test)]
mod tests {
    use cp9_model::Owner;

    use super::super::tests::{Server, client, query_error, reply};
    use super::*;

    fn scope() -> Scope {
        Scope {
            owner: Owner::new("ann@example.com"),
            session: "shop".parse().unwrap(),
            id: "1".into(),
        }
    }

    fn row(arn: &str, owner: &str) -> String {
        format!(
            "{{\"ResourceARN\": \"{arn}\", \"Tags\": [{{\"Key\": \"cp9-session\", \"Value\": \"shop\"}}, \
             {{\"Key\": \"cp9-owner\", \"Value\": \"{owner}\"}}]}}"
        )
    }

    const REGIONS: &str = "<R><regionInfo><item><regionName>us-east-1</regionName></item>\
        <item><regionName>eu-west-1</regionName></item></regionInfo></R>";

    #[tokio::test]
    async fn every_region_and_page_is_read_and_what_is_found_twice_counts_once() {
        let server = Server::start(|asked, _| {
            if asked.action() == "DescribeRegions" {
                return reply(200, REGIONS);
            }
            let east = asked.header("authorization").contains("us-east-1");
            let body = if asked.body.contains("page-2") {
                format!(
                    "[{}]}}",
                    row("arn:aws:sqs:us-east-1:1:q2", "ann@example.com")
                )
            } else if east {
                format!(
                    "[{}, {}], \"PaginationToken\": \"page-2\"}}",
                    row("arn:aws:s3:::bucket", "ann@example.com"),
                    row("arn:aws:s3:::lost-its-tags", "")
                )
            } else {
                format!("[{}]}}", row("arn:aws:s3:::bucket", "ann@example.com"))
            };
            reply(200, format!("{{\"ResourceTagMappingList\": {body}"))
        })
        .await;
        let found = tagged(&client(&server), &scope()).await.expect("looked");
        let arns: Vec<&str> = found.iter().map(|one| one.arn.as_str()).collect();
        assert_eq!(arns, ["arn:aws:s3:::bucket", "arn:aws:sqs:us-east-1:1:q2"]);
    }

    #[tokio::test]
    async fn a_region_that_cannot_be_looked_at_is_an_error() {
        let server = Server::start(|asked, _| {
            if asked.action() == "DescribeRegions" {
                return reply(200, REGIONS);
            }
            if asked.header("authorization").contains("us-east-1") {
                return query_error(400, "AccessDeniedException", "no");
            }
            reply(200, "{\"ResourceTagMappingList\": []}")
        })
        .await;
        let error = tagged(&client(&server), &scope())
            .await
            .expect_err("not looked");
        assert_eq!(error.operation(), "GetResources");
        assert_eq!(error.region(), "us-east-1");
    }

    #[test]
    fn kinds_are_read_off_arns() {
        for (arn, kind) in [
            ("arn:aws:ec2:us-east-1:123456789012:vpc/vpc-1", "ec2:vpc"),
            ("arn:aws:sqs:us-east-1:123456789012:queue", "sqs"),
            (
                "arn:aws:logs:us-east-1:123456789012:log-group:/x",
                "logs:log-group",
            ),
            ("nonsense", "unknown"),
        ] {
            let region = String::new();
            let one = Tagged {
                arn: arn.into(),
                region,
            };
            assert_eq!(one.kind(), kind);
        }
    }
}
