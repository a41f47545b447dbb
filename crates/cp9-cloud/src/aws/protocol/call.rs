//! One call of one operation, as data.

use serde_json::Value;

use super::escape::{escape, escape_path};
use crate::aws::retry::CallLimits;

/// The version of the EC2 API.
const EC2_VERSION: &str = "2016-11-15";
/// How operations begin that change nothing, or nothing more when repeated.
const REPEATABLE: [&str; 9] = [
    "BatchGet", "Delete", "Describe", "Filter", "Get", "Head", "List", "Search", "Simulate",
];

/// How a service is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Form in, XML out, lists under `member`: IAM, STS, RDS, ELB and others.
    Query,
    /// The dialect of EC2: lists without `member`.
    Ec2,
    /// JSON with the operation in a header, version 1.0.
    Json10,
    /// JSON with the operation in a header, version 1.1.
    Json11,
    /// Paths and JSON bodies.
    RestJson,
    /// Paths and XML bodies: S3, Route 53 and others.
    RestXml,
}

/// What is sent besides parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Body {
    /// Nothing.
    #[default]
    Empty,
    /// A JSON value.
    Json(Value),
    /// Bytes with their media type.
    Bytes(String, Vec<u8>),
}

/// One call of one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiCall {
    /// The first part of the service's host name, such as `ec2` or `tagging`.
    pub service: String,
    /// The operation, such as `DescribeInstances`.
    pub operation: String,
    /// How the service is spoken to.
    pub protocol: Protocol,
    /// The region to ask, when it is not the client's.
    pub region: Option<String>,
    /// The version of a query API.
    pub version: String,
    /// What stands before the operation in the target of a JSON API.
    pub target: String,
    /// The method of a REST API.
    pub method: String,
    /// The path of a REST API, escaped.
    pub path: String,
    /// The bucket of an S3 call, which goes into the host name where it can.
    pub bucket: Option<String>,
    /// The parameters of a query API, or the query string of a REST API.
    pub params: Vec<(String, String)>,
    /// Headers besides those of protocol and signature.
    pub headers: Vec<(String, String)>,
    /// The body of a JSON or REST API.
    pub body: Body,
    /// True when the call may be repeated although it may have arrived.
    pub idempotent: bool,
    /// Limits of its own.
    pub limits: Option<CallLimits>,
}

impl ApiCall {
    fn new(protocol: Protocol, service: &str, operation: &str) -> Self {
        Self {
            service: service.to_owned(),
            operation: operation.to_owned(),
            protocol,
            region: None,
            version: String::new(),
            target: String::new(),
            method: "POST".to_owned(),
            path: "/".to_owned(),
            bucket: None,
            params: Vec::new(),
            headers: Vec::new(),
            body: Body::Empty,
            idempotent: REPEATABLE.iter().any(|start| operation.starts_with(start)),
            limits: None,
        }
    }

    /// A call of a query API, such as IAM or RDS.
    pub fn query(service: &str, version: &str, operation: &str) -> Self {
        Self {
            version: version.to_owned(),
            ..Self::new(Protocol::Query, service, operation)
        }
    }

    /// A call of EC2.
    pub fn ec2(operation: &str) -> Self {
        Self {
            version: EC2_VERSION.to_owned(),
            ..Self::new(Protocol::Ec2, "ec2", operation)
        }
    }

    /// A call of a JSON API of version 1.1, with the target's first part and the input.
    pub fn json(service: &str, target: &str, operation: &str, input: Value) -> Self {
        Self {
            target: target.to_owned(),
            body: Body::Json(input),
            ..Self::new(Protocol::Json11, service, operation)
        }
    }

    /// A call of a JSON API of version 1.0, such as `dynamodb`.
    pub fn json10(service: &str, target: &str, operation: &str, input: Value) -> Self {
        Self {
            protocol: Protocol::Json10,
            ..Self::json(service, target, operation, input)
        }
    }

    /// A call of a REST API with JSON bodies.
    pub fn rest_json(service: &str, operation: &str, method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            ..Self::new(Protocol::RestJson, service, operation)
        }
    }

    /// A call of a REST API with XML bodies.
    pub fn rest_xml(service: &str, operation: &str, method: &str, path: &str) -> Self {
        Self {
            protocol: Protocol::RestXml,
            ..Self::rest_json(service, operation, method, path)
        }
    }

    /// A call of S3 about a bucket and perhaps a key in it.
    pub fn s3(operation: &str, method: &str, bucket: &str, key: &str) -> Self {
        let path = format!("/{}", escape_path(key));
        Self {
            bucket: Some(bucket.to_owned()),
            ..Self::rest_xml("s3", operation, method, &path)
        }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.push((name.into(), value.into()));
        self
    }

    /// Adds nested parameters of a query API as the protocol flattens them.
    #[must_use]
    pub fn nested(mut self, name: &str, value: &Value) -> Self {
        let list = match self.protocol {
            Protocol::Ec2 => "",
            _ => "member.",
        };
        super::encode::flatten(name, value, list, &mut self.params);
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// Asks another region than the client's.
    #[must_use]
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Says whether the call may be repeated although it may have arrived. Without it, reads and
    /// deletes may.
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self
    }

    /// Sets limits of its own.
    #[must_use]
    pub fn limits(mut self, limits: CallLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Fills `{Name}` in the path with an escaped value, and `{Name+}` with one that keeps its
    /// slashes.
    #[must_use]
    pub fn fill(mut self, name: &str, value: &str) -> Self {
        let one = self.path.replace(&format!("{{{name}}}"), &escape(value));
        self.path = one.replace(&format!("{{{name}+}}"), &escape_path(value));
        self
    }
}
