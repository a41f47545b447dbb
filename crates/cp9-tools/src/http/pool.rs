//! The client behind the outbound door: made once from the environment passed in, never from the
//! process's own.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use camino::Utf8Path;
use reqwest::{Certificate, Client, ClientBuilder, Url};

use super::{HttpError, proxy};
use crate::Doors;

/// For the connection alone, name look-up and TLS included.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long an unused connection is kept; load balancers of clouds drop theirs after 20 s and more.
const IDLE: Duration = Duration::from_secs(15);
/// Files of certificates to trust instead of the system's, by the variable that names them.
const BUNDLES: [&str; 2] = ["AWS_CA_BUNDLE", "SSL_CERT_FILE"];

/// The clients of one set of doors, shared by its clones. Plain HTTP has one of its own, because
/// it must work on machines without any trusted certificate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outbound {
    clients: Arc<Clients>,
}

#[derive(Debug, Default)]
struct Clients {
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl Outbound {
    pub(super) async fn client(&self, doors: &Doors, url: &str) -> Result<Client, HttpError> {
        let secure = !url.starts_with("http://");
        let cell = if secure {
            &self.clients.secure
        } else {
            &self.clients.plain
        };
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        let roots = if secure {
            roots(doors)?
        } else {
            Some(Vec::new())
        };
        let builder = builder(doors, roots)?;
        // Reading the system's certificates takes too long for an async thread.
        let built = tokio::task::spawn_blocking(move || builder.build()).await;
        let built = built.map_err(|lost| HttpError::Client(Box::new(lost)))?;
        let client = built.map_err(|error| HttpError::Client(Box::new(error)))?;
        Ok(cell.get_or_init(|| client).clone())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that makes a client"
)]
fn builder(doors: &Doors, roots: Option<Vec<Certificate>>) -> Result<ClientBuilder, HttpError> {
    // Fails when there is one already, which then is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent("cp9")
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_LIMIT)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true)
        .no_proxy();
    let proxies = proxy::Proxies::of(&doors.env, &doors.redactor)?;
    if !proxies.is_empty() {
        let custom = move |url: &Url| proxies.for_url(url);
        builder = builder.proxy(reqwest::Proxy::custom(custom));
    }
    Ok(match roots {
        Some(roots) => builder.tls_certs_only(roots),
        None => builder,
    })
}

/// The certificates of the bundle that the environment names; `None` means the system's.
fn roots(doors: &Doors) -> Result<Option<Vec<Certificate>>, HttpError> {
    let mut named = BUNDLES.iter().filter_map(|name| {
        let path = doors.env.get(name).filter(|path| !path.is_empty())?;
        Some((*name, path))
    });
    let Some((variable, path)) = named.next() else {
        return Ok(None);
    };
    let unusable = |source| HttpError::Certificates {
        variable,
        path: path.to_owned(),
        source,
    };
    let pem = doors.read(Utf8Path::new(path));
    let pem = pem.map_err(|error| unusable(Some(Box::new(error) as _)))?;
    let roots = Certificate::from_pem_bundle(&pem);
    let roots = roots.map_err(|error| unusable(Some(Box::new(error) as _)))?;
    if roots.is_empty() {
        return Err(unusable(None));
    }
    Ok(Some(roots))
}
