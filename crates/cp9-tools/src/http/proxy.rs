//! Which proxy a request goes through, as the environment passed in says.

use std::net::IpAddr;

use reqwest::Url;

use super::HttpError;
use crate::env::Environment;
use crate::redact::Redactor;
use crate::secret::Secret;

/// The proxies of an environment.
#[derive(Clone, Default)]
pub(super) struct Proxies {
    http: Option<Url>,
    https: Option<Url>,
    except: Vec<Except>,
}

/// A part of the world that no proxy is used for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Except {
    Everything,
    /// A domain with all below it, perhaps on one port only.
    Domain(String, Option<u16>),
    /// Addresses whose first bits are these.
    Network(IpAddr, u8),
}

impl Proxies {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`; the lower-case form wins.
    /// Passwords in them become secrets.
    pub(super) fn of(env: &Environment, redactor: &Redactor) -> Result<Self, HttpError> {
        let all = proxy(env, redactor, "all_proxy")?;
        let http = proxy(env, redactor, "http_proxy")?.or_else(|| all.clone());
        let https = proxy(env, redactor, "https_proxy")?.or(all);
        let except = variable(env, "no_proxy").map_or("", |(_, list)| list);
        Ok(Self {
            http,
            https,
            except: except.split([',', ' ']).filter_map(Except::parse).collect(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.http.is_none() && self.https.is_none()
    }

    /// The proxy for an address. This machine and its instance metadata are never asked through
    /// one, because they are others behind it.
    pub(super) fn for_url(&self, url: &Url) -> Option<Url> {
        let proxy = match url.scheme() {
            "https" => self.https.as_ref(),
            _ => self.http.as_ref(),
        }?;
        let host = url.host_str()?.trim_matches(['[', ']']);
        let near = host == "localhost" || host.parse().is_ok_and(is_near);
        let port = url.port_or_known_default();
        let excepted = self.except.iter().any(|except| except.covers(host, port));
        (!near && !excepted).then(|| proxy.clone())
    }
}

impl Except {
    fn parse(entry: &str) -> Option<Self> {
        let entry = entry.trim();
        if entry.is_empty() {
            return None;
        }
        if entry == "*" {
            return Some(Self::Everything);
        }
        if let Ok(address) = entry.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Some(Self::Network(address, u8::MAX));
        }
        if let Some((address, bits)) = entry.split_once('/') {
            return Some(Self::Network(address.parse().ok()?, bits.parse().ok()?));
        }
        let port = entry.rsplit_once(':');
        let port = port.and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = port.map_or((entry, None), |(host, port)| (host, Some(port)));
        if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Some(Self::Network(address, u8::MAX));
        }
        let host = host.trim_start_matches("*.").trim_start_matches('.');
        Some(Self::Domain(host.to_ascii_lowercase(), port))
    }

    fn covers(&self, host: &str, port: Option<u16>) -> bool {
        match self {
            Self::Everything => true,
            Self::Domain(domain, only) => {
                let same = host.strip_suffix(domain.as_str());
                let below = same.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
                below && (only.is_none() || *only == port)
            }
            Self::Network(network, bits) => host
                .parse()
                .is_ok_and(|address: IpAddr| same_network(*network, address, *bits)),
        }
    }
}

fn same_network(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let first = |value: u128, width: u8| {
        let bits = u32::from(bits.min(width));
        value.checked_shr(u32::from(width) - bits).unwrap_or(0)
    };
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            first(u32::from(one).into(), 32) == first(u32::from(other).into(), 32)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => first(one.into(), 128) == first(other.into(), 128),
        _ => false,
    }
}

fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_link_local(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unicast_link_local(),
    }
}

/// A variable in lower or upper case, and which of both it was.
fn variable<'e>(env: &'e Environment, lower: &str) -> Option<(String, &'e str)> {
    [lower.to_owned(), lower.to_ascii_uppercase()]
        .into_iter()
        .find_map(|name| {
            let value = env.get(&name)?.trim();
            (!value.is_empty()).then_some((name, value))
        })
}

fn proxy(env: &Environment, redactor: &Redactor, name: &str) -> Result<Option<Url>, HttpError> {
    let Some((variable, value)) = variable(env, name) else {
        return Ok(None);
    };
    let whole = if value.contains("://") {
        value.to_owned()
    } else {
        format!("http://{value}")
    };
    let url: Option<Url> = whole.parse().ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if let Some(password) = url.as_ref().and_then(Url::password) {
        redactor.add(&Secret::new(password));
    }
    url.map(Some).ok_or(HttpError::Proxy { variable })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies, HttpError> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let env = Environment::new(variables.iter().map(owned));
        Proxies::of(&env, &Redactor::new())
    }

    fn through(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let proxies = proxies(variables).unwrap();
        Some(proxies.for_url(&url.parse().unwrap())?.to_string())
    }

    #[test]
    fn the_scheme_decides_and_lower_case_wins() {
        let both = [
            ("HTTPS_PROXY", "http://upper:1"),
            ("https_proxy", "lower:2"),
            ("ALL_PROXY", "http://all:3"),
        ];
        assert_eq!(
            through(&both, "https://a.b/").as_deref(),
            Some("http://lower:2/")
        );
        assert_eq!(
            through(&both, "http://a.b/").as_deref(),
            Some("http://all:3/")
        );
        assert_eq!(through(&[("https_proxy", "")], "https://a.b/"), None);
        assert_eq!(through(&both[..2], "http://a.b/"), None);
    }

    #[test]
    fn exceptions_are_domains_ports_and_networks() {
        let list =
            "corp.example, .in.example,*.wild.example other.example:8443 10.0.0.0/8,[::7],fd00::/8";
        let env = [("ALL_PROXY", "http://p:1"), ("NO_PROXY", list)];
        for direct in [
            "https://corp.example/",
            "https://a.corp.example/",
            "https://in.example/",
            "https://x.wild.example/",
            "https://other.example:8443/",
            "https://10.200.3.4/",
            "https://[::7]/",
            "https://[fd12::1]/",
            "http://127.0.0.1:5000/",
            "http://localhost:5000/",
            "http://[::1]:5000/",
            "http://169.254.169.254/latest/",
        ] {
            assert_eq!(through(&env, direct), None, "{direct}");
        }
        for proxied in [
            "https://notcorp.example/",
            "https://other.example/",
            "https://11.0.0.1/",
            "https://[fe00::1]/",
            "https://sts.eu-west-1.amazonaws.com/",
        ] {
            assert!(through(&env, proxied).is_some(), "{proxied}");
        }
        let none = [("ALL_PROXY", "http://p:1"), ("NO_PROXY", "*")];
        assert_eq!(through(&none, "https://a.b/"), None);
        let zero = [("ALL_PROXY", "http://p:1"), ("NO_PROXY", "0.0.0.0/0,::/0")];
        assert_eq!(through(&zero, "https://8.8.8.8/"), None);
        assert_eq!(through(&zero, "https://[2001:db8::1]/"), None);
    }

    #[test]
    fn passwords_are_secrets_and_nonsense_names_its_variable() {
        let env = Environment::new([("HTTPS_PROXY".into(), "http://me:hunter22@p:1".into())]);
        let redactor = Redactor::new();
        Proxies::of(&env, &redactor).unwrap();
        assert_eq!(redactor.redact("with hunter22"), "with ***");
        for nonsense in ["http://", "socks5://p:1", "::"] {
            let Err(error) = proxies(&[("HTTPS_PROXY", nonsense)]) else {
                panic!("{nonsense} is no proxy");
            };
            assert!(error.to_string().contains("`HTTPS_PROXY`"), "{error}");
            assert!(!error.to_string().contains(nonsense), "{error}");
        }
    }
}
