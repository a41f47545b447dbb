//! Why AWS did not do what it was asked: one error for every service and protocol.

mod classify;
mod remedy;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use cp9_model::{Category, Explain};
use cp9_tools::{HttpError, Redactor};

pub(crate) use classify::classify;

/// What a failed call means to its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AwsErrorKind {
    /// Too many calls, also after the retries.
    Throttled,
    /// The principal may not do this.
    Denied,
    /// The credentials are too old and cannot be renewed without the user.
    Expired,
    /// There is no such thing.
    NotFound,
    /// AWS does not accept the credentials.
    InvalidCredentials,
    /// There are no credentials.
    NoCredentials,
    /// No whole answer within the limit.
    Timeout,
    /// No connection, or it broke.
    Network,
    /// The clock of this machine is too far off.
    Skew,
    /// AWS failed on its side, also after the retries.
    Server,
    /// What the environment or a profile says cannot be used.
    Config,
    /// Cancelled.
    Interrupted,
    /// Anything else; the code says what.
    Other,
}

/// A call that failed, after its retries.
#[derive(Debug)]
pub struct AwsError {
    facts: Box<Facts>,
}

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) service: String,
    pub(crate) operation: String,
    pub(crate) region: String,
    pub(crate) kind: AwsErrorKind,
    pub(crate) code: String,
    pub(crate) status: Option<u16>,
    pub(crate) message: String,
    pub(crate) request_id: Option<String>,
    pub(crate) remedy: Option<String>,
    pub(crate) attempts: u32,
    /// How long the service asks to wait.
    pub(crate) retry_after: Option<Duration>,
    /// When the service says it is, in seconds.
    pub(crate) server_time: Option<i64>,
    /// False when surely nothing of the request arrived.
    pub(crate) sent: bool,
    /// The region that the service says to ask instead.
    pub(crate) other_region: Option<String>,
    pub(crate) source: Option<Box<dyn Error + Send + Sync>>,
}

impl AwsError {
    /// A failure that no answer told of.
    pub(crate) fn new(kind: AwsErrorKind, service: &str, operation: &str, region: &str) -> Self {
        let facts = Facts {
            service: service.to_owned(),
            operation: operation.to_owned(),
            region: region.to_owned(),
            kind,
            code: String::new(),
            status: None,
            message: String::new(),
            request_id: None,
            remedy: None,
            attempts: 1,
            retry_after: None,
            server_time: None,
            sent: true,
            other_region: None,
            source: None,
        };
        Self {
            facts: Box::new(facts),
        }
    }

    /// The failure of the door.
    pub(crate) fn http(error: HttpError, service: &str, operation: &str, region: &str) -> Self {
        let kind = match &error {
            HttpError::TimedOut { .. } => AwsErrorKind::Timeout,
            HttpError::Interrupted { .. } => AwsErrorKind::Interrupted,
            HttpError::Untrusted { .. }
            | HttpError::Certificates { .. }
            | HttpError::Proxy { .. }
            | HttpError::Client(_) => AwsErrorKind::Config,
            HttpError::TooLarge { .. } | HttpError::Malformed { .. } => AwsErrorKind::Other,
            _ => AwsErrorKind::Network,
        };
        let sent = !matches!(error, HttpError::Unreachable { .. });
        let remedy = error.remedy();
        Self::new(kind, service, operation, region)
            .edit(|facts| {
                facts.sent = sent;
                facts.remedy = remedy;
            })
            .caused(error)
    }

    pub(crate) fn edit(mut self, edit: impl FnOnce(&mut Facts)) -> Self {
        edit(&mut self.facts);
        self
    }

    pub(crate) fn says(self, message: impl Into<String>) -> Self {
        let message = message.into();
        self.edit(|facts| facts.message = message)
    }

    pub(crate) fn caused(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let source = source.into();
        self.edit(|facts| facts.source = Some(source))
    }

    pub(crate) fn redacted(self, redactor: &Redactor) -> Self {
        self.edit(|facts| facts.message = redactor.redact(&facts.message))
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What the failure means.
    pub fn kind(&self) -> AwsErrorKind {
        self.facts.kind
    }

    /// The service, such as `sts`.
    pub fn service(&self) -> &str {
        &self.facts.service
    }

    /// The operation, such as `GetCallerIdentity`.
    pub fn operation(&self) -> &str {
        &self.facts.operation
    }

    /// The region that was asked.
    pub fn region(&self) -> &str {
        &self.facts.region
    }

    /// The word of the service, such as `DependencyViolation`; empty when it did not answer.
    pub fn aws_code(&self) -> &str {
        &self.facts.code
    }

    /// The HTTP status, when there was an answer.
    pub fn http_status(&self) -> Option<u16> {
        self.facts.status
    }

    /// What the service or the SDK said, redacted.
    pub fn message(&self) -> &str {
        &self.facts.message
    }

    /// The id under which AWS knows the request.
    pub fn request_id(&self) -> Option<&str> {
        self.facts.request_id.as_deref()
    }

    /// How often it was tried.
    pub fn attempts(&self) -> u32 {
        self.facts.attempts
    }
}

impl fmt::Display for AwsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = &*self.facts;
        let message = facts.message.trim().trim_end_matches('.');
        if facts.operation.is_empty() {
            return f.write_str(message);
        }
        let (service, operation) = (&facts.service, &facts.operation);
        write!(f, "`{service} {operation}` ")?;
        if !facts.region.is_empty() {
            write!(f, "in `{}` ", facts.region)?;
        }
        write!(f, "{}", facts.kind.words())?;
        if !facts.code.is_empty() {
            write!(f, " (`{}`)", facts.code)?;
        }
        if message.is_empty() {
            return Ok(());
        }
        write!(f, ": {message}")
    }
}

impl Error for AwsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.facts.source.as_deref()?;
        Some(source)
    }
}

impl AwsErrorKind {
    fn words(self) -> &'static str {
        match self {
            Self::Throttled => "was throttled",
            Self::Denied => "was denied",
            Self::Expired => "failed: the credentials have expired",
            Self::NotFound => "found nothing",
            Self::InvalidCredentials => "failed: AWS does not accept the credentials",
            Self::NoCredentials => "failed: there are no credentials",
            Self::Timeout => "got no answer in time",
            Self::Network => "could not be sent",
            Self::Skew => "failed: the clock of this machine is wrong",
            Self::Server => "failed on the side of AWS",
            Self::Config => "could not be prepared",
            Self::Interrupted => "was interrupted",
            Self::Other => "failed",
        }
    }
}

impl Explain for AwsError {
    fn category(&self) -> Category {
        match self.facts.kind {
            AwsErrorKind::Throttled
            | AwsErrorKind::Timeout
            | AwsErrorKind::Network
            | AwsErrorKind::Server
            | AwsErrorKind::Interrupted => Category::Transient,
            AwsErrorKind::NotFound | AwsErrorKind::Other => Category::Permanent,
            _ => Category::Config,
        }
    }

    fn code(&self) -> &'static str {
        match self.facts.kind {
            AwsErrorKind::Throttled => "aws-throttled",
            AwsErrorKind::Denied => "aws-denied",
            AwsErrorKind::Expired => "aws-expired",
            AwsErrorKind::NotFound => "aws-not-found",
            AwsErrorKind::InvalidCredentials => "aws-invalid-credentials",
            AwsErrorKind::NoCredentials => "aws-no-credentials",
            AwsErrorKind::Timeout => "aws-timeout",
            AwsErrorKind::Network => "aws-network",
            AwsErrorKind::Skew => "aws-clock-skew",
            AwsErrorKind::Server => "aws-server",
            AwsErrorKind::Config => "aws-config",
            AwsErrorKind::Interrupted => "interrupted",
            AwsErrorKind::Other => "aws-failed",
        }
    }

    fn remedy(&self) -> Option<String> {
        let own = self.facts.remedy.clone();
        own.or_else(|| remedy::of(&self.facts))
    }
}
