//! Our HTTP door as the SDK's HTTP client: recorded, limited, redacted like every other call.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use cp9_model::Explain as _;
use cp9_tools::{Doors, HttpError, Redactor, Secret};
use serde_json::Value;

/// The most for one request of the SDK.
const LIMIT: Duration = Duration::from_secs(4);
/// Headers whose values are secrets.
const SECRET_HEADERS: [&str; 4] = [
    "authorization",
    "x-amz-sso_bearer_token",
    "x-amz-security-token",
    "x-aws-ec2-metadata-token",
];
/// Fields and elements whose values are secrets, in any case and without separators.
const SECRET_FIELDS: [&str; 9] = [
    "accesskeyid",
    "accesstoken",
    "clientsecret",
    "idtoken",
    "refreshtoken",
    "secretaccesskey",
    "sessiontoken",
    "token",
    "webidentitytoken",
];

/// What went wrong with the last request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    Silent {
        address: String,
        limit: Duration,
    },
    Unreachable {
        address: String,
    },
    Refused {
        status: u16,
    },
    /// The door itself cannot be used as the environment wants it.
    Unusable {
        message: String,
        remedy: Option<String>,
    },
}

/// The client for the SDK.
#[derive(Debug, Clone)]
pub(super) struct Door {
    doors: Doors,
    limit: Duration,
    trouble: Arc<Mutex<Option<Trouble>>>,
}

impl Door {
    /// A client whose requests take at most `limit`, and never longer than the SDK's may.
    pub(super) fn new(doors: &Doors, limit: Duration) -> Self {
        Self {
            doors: doors.clone(),
            limit: limit.min(LIMIT),
            trouble: Arc::default(),
        }
    }

    pub(super) fn trouble(&self) -> Option<Trouble> {
        let trouble = self.trouble.lock();
        trouble.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, trouble: Option<Trouble>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    async fn send(self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let request = outgoing(&request, &self.doors.redactor)?.limit(self.limit);
        let address = request.url.split('?').next().unwrap_or_default().to_owned();
        match self.doors.http_send(request).await {
            Ok(response) => {
                learn(&self.doors.redactor, &response.body);
                let refused = response.status >= 400;
                self.note(refused.then_some(Trouble::Refused {
                    status: response.status,
                }));
                incoming(response)
            }
            Err(error) => {
                self.note(Some(match &error {
                    HttpError::Untrusted { .. }
                    | HttpError::Certificates { .. }
                    | HttpError::Proxy { .. }
                    | HttpError::Client(_) => Trouble::Unusable {
                        message: error.to_string(),
                        remedy: error.remedy(),
                    },
                    HttpError::TimedOut { limit, .. } => Trouble::Silent {
                        address,
                        limit: *limit,
                    },
                    _ => Trouble::Unreachable { address },
                }));
                Err(match &error {
                    // Silence is not tried again, so that it ends after one limit.
                    HttpError::TimedOut { .. } => ConnectorError::other(error.into(), None),
                    HttpError::Unreachable { .. } | HttpError::Broken { .. } => {
                        ConnectorError::io(error.into())
                    }
                    _ => ConnectorError::user(error.into()),
                })
            }
        }
    }
}

impl HttpConnector for Door {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::new(self.clone().send(request))
    }
}

impl HttpClient for Door {
    fn http_connector(
        &self,
        _settings: &HttpConnectorSettings,
        _components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

fn outgoing(
    request: &HttpRequest,
    redactor: &Redactor,
) -> Result<cp9_tools::HttpRequest, ConnectorError> {
    let body = request.body().bytes();
    let body = body.ok_or_else(|| ConnectorError::user("the body is a stream".into()))?;
    learn(redactor, body);
    let mut sent = cp9_tools::HttpRequest::new(request.method(), request.uri());
    for (name, value) in request.headers() {
        if SECRET_HEADERS.contains(&name) {
            redactor.add(&Secret::new(value));
        }
        sent = sent.header(name, value);
    }
    Ok(sent.body(body))
}

fn incoming(response: cp9_tools::HttpResponse) -> Result<HttpResponse, ConnectorError> {
    let status = response.status.try_into();
    let status = status.map_err(|_| ConnectorError::user("the status is not one".into()))?;
    let mut taken = HttpResponse::new(status, SdkBody::from(response.body));
    for (name, value) in response.headers {
        // A header that the SDK cannot hold is none that it needs.
        let _ = taken.headers_mut().try_append(name, value);
    }
    Ok(taken)
}

/// Teaches the redactor the secrets of a body: a JSON document, an XML document or a form.
fn learn(redactor: &Redactor, body: &[u8]) {
    let Ok(text) = std::str::from_utf8(body) else {
        return;
    };
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        learn_json(redactor, &value);
    }
    // `<Name>value</Name>` and `Name=value` alike: a word, a separator, the value.
    let mut before = "";
    for word in text.split(['<', '>', '&', '=']) {
        if is_secret(before) {
            redactor.add(&Secret::new(word));
        }
        before = word;
    }
}

fn learn_json(redactor: &Redactor, value: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if is_secret(name) => {
                        redactor.add(&Secret::new(text.as_str()));
                    }
                    other => learn_json(redactor, other),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| learn_json(redactor, item)),
        _ => {}
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.replace(['_', '-'], "").to_ascii_lowercase();
    SECRET_FIELDS.contains(&name.as_str())
}
