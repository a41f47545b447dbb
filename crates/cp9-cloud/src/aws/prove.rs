//! That this process may write where the session file says, and could find again what it wrote: the proof
//! without which nothing is made on AWS.

use std::time::Duration;

use cp9_model::Scope;
use cp9_model::identity::Arn;
use cp9_model::scope::{TAG_OWNER, TAG_SESSION};

use super::client::Aws;
use super::identity::{AwsProof, Identified, IdentityError, Wishes};
use super::protocol::ApiCall;
use super::retry::CallLimits;
use super::sts::{RoleRequest, caller_identity};
use super::tagged;
use crate::cloud::ProvenScope;

/// How long an assumed role lasts: the longest that every role allows.
const ROLE_TIME: Duration = Duration::from_hours(1);

/// A proven scope with the client that acts in it.
#[derive(Debug, Clone)]
pub struct Proven {
    /// The scope, which now names account, region and principal.
    pub scope: ProvenScope,
    /// The client of the identity that writes.
    pub aws: Aws,
}

/// Proves each line of the identity contract. `local` is the proof that processes of this machine carry
/// the scope; nothing is written.
pub async fn prove(
    known: &Identified,
    local: &ProvenScope,
    wishes: &Wishes<'_>,
) -> Result<Proven, IdentityError> {
    let known_tag = |tag: &&String| tag.as_str() != TAG_OWNER && tag.as_str() != TAG_SESSION;
    if let Some(tag) = wishes.tags.iter().find(known_tag) {
        return Err(IdentityError::Tag { tag: tag.clone() });
    }
    let (aws, principal, session_tags) = become_role(known, local.scope(), wishes).await?;
    scan(&aws, &principal, local.scope()).await?;
    let unknown = |source| IdentityError::Caller {
        profile: aws.profile().map(str::to_owned),
        source,
    };
    let credentials = aws.credentials().await.map_err(unknown)?;
    let of_caller = known.aws.credentials().await.map_err(unknown)?;
    let proof = AwsProof {
        account: principal.account.clone(),
        region: aws.region().to_owned(),
        partition: principal.partition.clone(),
        caller: known.principal.clone(),
        principal,
        owner_source: known.source,
        credentials: credentials.source,
        expires: credentials.expires,
        caller_expires: of_caller.expires,
        session_tags,
    };
    Ok(Proven {
        scope: local.clone().on_aws(proof),
        aws,
    })
}

/// The identity that writes: the role, unless there is none or it is already the running identity. Its
/// account is judged before it is assumed and again as AWS tells it.
async fn become_role(
    known: &Identified,
    scope: &Scope,
    wishes: &Wishes<'_>,
) -> Result<(Aws, Arn, bool), IdentityError> {
    let here = |principal: &Arn, account: &str| {
        let principal = principal.to_string();
        wishes.accounts.admit(account, &principal)
    };
    let Some(role) = wishes
        .role
        .filter(|role| !known.principal.is_or_runs_as(role))
    else {
        here(&known.principal, &known.account)?;
        return Ok((known.aws.clone(), known.principal.clone(), false));
    };
    here(role, &role.account)?;
    let request = RoleRequest {
        transitive_tags: vec![TAG_OWNER.into(), TAG_SESSION.into()],
        duration: Some(ROLE_TIME),
        ..RoleRequest::new(role.to_string(), scope.owner.as_str())
    };
    let request = request
        .tag(TAG_OWNER, scope.owner.as_str())
        .tag(TAG_SESSION, scope.session.to_string());
    let refused = |source| IdentityError::Assume {
        principal: known.principal.clone(),
        role: role.clone(),
        source,
    };
    let aws = known.aws.with_role(&request).await.map_err(refused)?;
    let caller = caller_identity(&aws).await.map_err(refused)?;
    let principal: Arn = caller.arn.parse().map_err(IdentityError::Principal)?;
    if !principal.is_or_runs_as(role) {
        let role = role.clone();
        return Err(IdentityError::OtherRole { role, principal });
    }
    here(&principal, &caller.account)?;
    Ok((aws, principal, true))
}

/// A question that a destroy begins with, and the permission that it needs.
struct Question {
    permission: &'static str,
    call: ApiCall,
}

fn questions(scope: &Scope) -> [Question; 3] {
    let list = [
        ("tag:GetResources", tagged::resources(scope, 1)),
        (
            "iam:ListRoles",
            ApiCall::query("iam", "2010-05-08", "ListRoles").param("MaxItems", "1"),
        ),
        ("ec2:DescribeRegions", ApiCall::ec2("DescribeRegions")),
    ];
    let question = |(permission, call): (_, ApiCall)| Question {
        permission,
        call: call.limits(CallLimits::PROMPT),
    };
    list.map(question)
}

/// Asks all at once what a destroy of this scope would ask first.
async fn scan(aws: &Aws, principal: &Arn, scope: &Scope) -> Result<(), IdentityError> {
    let [tagged, roles, regions] = questions(scope);
    let answers = tokio::join!(
        ask(aws, principal, tagged),
        ask(aws, principal, roles),
        ask(aws, principal, regions)
    );
    answers.0.and(answers.1).and(answers.2)
}

async fn ask(aws: &Aws, principal: &Arn, question: Question) -> Result<(), IdentityError> {
    let answer = Box::pin(aws.call(&question.call)).await;
    answer.map(drop).map_err(|source| IdentityError::Scan {
        principal: principal.clone(),
        permission: question.permission,
        region: aws.region().to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests;
