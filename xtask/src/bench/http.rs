//! One GET over a plain socket, so that polling costs nothing but the call.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};

const LIMIT: Duration = Duration::from_secs(1);

/// The whole reply, head and body, as text.
pub(crate) fn get(address: SocketAddr, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut reply = Vec::new();
    stream.take(64 * 1024).read_to_end(&mut reply)?;
    Ok(String::from_utf8_lossy(&reply).into_owned())
}

/// The address in a URL such as `http://127.0.0.1:20123`.
pub(crate) fn address(url: &str) -> Result<SocketAddr> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let host = rest.split('/').next().unwrap_or(rest);
    host.parse()
        .with_context(|| format!("`{url}` is no loopback URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_from_urls() {
        assert_eq!(
            address("http://127.0.0.1:20123/x")
                .expect("an address")
                .port(),
            20123
        );
        assert!(address("http://example.com").is_err());
    }
}
