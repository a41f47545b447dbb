//! Answers that come in pages.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::client::Aws;
use super::error::{AwsError, AwsErrorKind};
use super::protocol::{ApiCall, ApiReply, Body, Protocol};

/// More pages than any listing has; past that something is wrong.
const MOST_PAGES: usize = 20_000;

/// How the pages of an operation hang together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// Pairs of an input and the path in the answer whose value it takes for the next page.
    pub tokens: Vec<(String, String)>,
    /// The path of a flag in the answer without whose `true` there are no more pages.
    pub more: Option<String>,
}

impl Paging {
    /// One token: the input's name and the path in the answer.
    pub fn token(input: &str, output: &str) -> Self {
        Self {
            tokens: vec![(input.to_owned(), output.to_owned())],
            more: None,
        }
    }

    /// Adds another token, for operations that continue at a key and a version.
    #[must_use]
    pub fn and(mut self, input: &str, output: &str) -> Self {
        self.tokens.push((input.to_owned(), output.to_owned()));
        self
    }

    /// Names the flag that says whether there is more, such as `IsTruncated`.
    #[must_use]
    pub fn while_true(mut self, path: &str) -> Self {
        self.more = Some(path.to_owned());
        self
    }

    /// False once the answer's flag says that this is the last page.
    fn goes_on(&self, reply: &ApiReply) -> bool {
        let Some(path) = &self.more else {
            return true;
        };
        let flag = reply.list(path).into_iter().next();
        flag.is_some_and(|flag| flag.as_bool() == Some(true) || flag.as_str() == Some("true"))
    }

    /// The inputs of the next page; none after the last one.
    fn next(&self, reply: &ApiReply) -> Vec<(String, String)> {
        let value = |(input, output): &(String, String)| {
            Some((input.clone(), reply.text(output)?.to_owned()))
        };
        self.tokens.iter().filter_map(value).collect()
    }
}

impl Aws {
    /// Calls until the last page and gives back every page. A page that fails fails the whole: half
    /// a listing is never taken for one.
    pub async fn pages(&self, call: &ApiCall, paging: &Paging) -> Result<Vec<ApiReply>, AwsError> {
        let mut pages = Vec::new();
        self.each_page(call, paging, |page| pages.push(page))
            .await?;
        Ok(pages)
    }

    /// Calls until the last page and hands on each page as it comes.
    pub async fn each_page(
        &self,
        call: &ApiCall,
        paging: &Paging,
        mut take: impl FnMut(ApiReply),
    ) -> Result<(), AwsError> {
        let mut call = call.clone();
        let mut seen = HashSet::new();
        loop {
            let reply = self.call(&call).await?;
            let more = paging.goes_on(&reply);
            let next = paging.next(&reply);
            take(reply);
            if !more || (next.is_empty() && paging.more.is_none()) {
                return Ok(());
            }
            if next.is_empty() {
                return Err(self.astray(&call, "says that there is more, but not where"));
            }
            if !seen.insert(next.clone()) {
                return Err(self.astray(&call, "gave the same page token again"));
            }
            if seen.len() > MOST_PAGES {
                return Err(self.astray(&call, "has too many pages"));
            }
            forget(&mut call, paging);
            for (input, value) in next {
                set(&mut call, &input, &value);
            }
        }
    }

    fn astray(&self, call: &ApiCall, why: &str) -> AwsError {
        let region = call.region.as_deref().unwrap_or(self.region());
        AwsError::new(AwsErrorKind::Other, &call.service, &call.operation, region)
            .edit(|facts| facts.code = "PagesAstray".into())
            .says(format!("the listing {why}"))
    }
}

/// Takes out the tokens of the page before: one that the last page no longer gives must not stay.
fn forget(call: &mut ApiCall, paging: &Paging) {
    for (input, _) in &paging.tokens {
        call.params.retain(|(name, _)| name != input);
        if let Body::Json(Value::Object(fields)) = &mut call.body {
            fields.shift_remove(input);
        }
    }
}

/// Puts a token where the protocol has its inputs. Some REST listings are POSTs whose input is
/// their body.
fn set(call: &mut ApiCall, input: &str, value: &str) {
    let json = matches!(call.protocol, Protocol::Json10 | Protocol::Json11);
    match &mut call.body {
        Body::Json(Value::Object(fields)) if json || call.protocol == Protocol::RestJson => {
            fields.insert(input.to_owned(), value.into());
        }
        body if json => *body = Body::Json(json!({ input: value })),
        _ => call.params.push((input.to_owned(), value.to_owned())),
    }
}

#[cfg(test)]
mod tests;
