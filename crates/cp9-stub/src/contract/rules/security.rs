//! Security schemes are of a known type, and requirements name schemes that exist.

use serde_json::{Map, Value};

use super::Rules;

impl<'d> Rules<'d> {
    pub(super) fn security_scheme(&mut self, at: &str, node: &'d Value) {
        let Some(scheme) = self.object(at, node) else {
            return;
        };
        let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "http" if text("scheme").is_empty() => self.fault(at, "it has no `scheme`"),
            "http" => {}
            "apiKey" => {
                if !["query", "header", "cookie"].contains(&text("in")) {
                    self.fault(at, "its `in` is none of `query`, `header`, `cookie`");
                }
                if text("name").is_empty() {
                    self.fault(at, "it has no `name`");
                }
            }
            "openIdConnect" => self.url(at, scheme, "openIdConnectUrl", true),
            "oauth2" => self.flows(at, scheme),
            other => {
                let what = format!("`{other}` is no type of a security scheme");
                self.fault(at, &what);
            }
        }
    }

    fn flows(&mut self, at: &str, scheme: &'d Map<String, Value>) {
        let Some(flows) = scheme.get("flows") else {
            self.fault(at, "it has no `flows`");
            return;
        };
        for (name, flow) in self.members(at, Some(flows)) {
            let at = format!("{at}.{name}");
            let (authorization, token) = match name.as_str() {
                "implicit" => (true, false),
                "password" | "clientCredentials" => (false, true),
                "authorizationCode" => (true, true),
                _ => {
                    self.fault(&at, "it is no flow");
                    continue;
                }
            };
            let Some(flow) = self.object(&at, flow) else {
                continue;
            };
            self.url(&at, flow, "authorizationUrl", authorization);
            self.url(&at, flow, "tokenUrl", token);
            self.url(&at, flow, "refreshUrl", false);
        }
    }

    fn url(&mut self, at: &str, map: &Map<String, Value>, key: &str, required: bool) {
        let url = map.get(key).and_then(Value::as_str);
        let is_url = |url: &str| url.contains(':') || url.starts_with('/');
        match url {
            None if required => self.fault(at, &format!("it has no `{key}`")),
            Some(url) if (required || !url.is_empty()) && !is_url(url) => {
                self.fault(at, &format!("its `{key}` is no URL"));
            }
            _ => {}
        }
    }

    /// A list of requirements, of the document or of one operation.
    pub(super) fn requirements(&mut self, at: &str, node: Option<&Value>) {
        let known = self.document.root().pointer("/components/securitySchemes");
        let list = node.and_then(Value::as_array).into_iter().flatten();
        for name in list.filter_map(Value::as_object).flat_map(Map::keys) {
            if known.and_then(|known| known.get(name)).is_none() {
                let what = format!("security requirement `{name}` names no scheme");
                self.fault(at, &what);
            }
        }
    }
}
