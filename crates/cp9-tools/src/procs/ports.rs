//! Loopback ports: whether one is free, and who listens on it.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use listeners::{Listener, Protocol, SocketState};
use tokio::net::TcpSocket;

use super::{ProcessFacts, find};

/// The pause between two looks at a port that is to become free.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// True when nothing listens on this port of the loopback interface. It binds without listening, so that
/// two who look at the same time, or a service that starts meanwhile, do not see each other as a holder.
pub fn is_port_free(port: u16) -> bool {
    port != 0 && try_bind(port).is_ok()
}

fn try_bind(port: u16) -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}

/// Waits until a port is free; false if it is not within the time. A socket outlives its process for a
/// moment where another program was being started from that process.
pub async fn becomes_free(port: u16, at_most: Duration) -> bool {
    let started = Instant::now();
    while !is_port_free(port) {
        if started.elapsed() >= at_most {
            return false;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    true
}

/// The processes that answer on this port of the loopback interface, as far as this user may see them:
/// an empty list does not mean that the port is free.
pub fn listeners(port: u16) -> Vec<ProcessFacts> {
    let all = listeners::get_all().unwrap_or_default();
    let here = all.iter().filter(|one| answers(one, port));
    let pids: BTreeSet<u32> = here.map(|one| one.process.pid).collect();
    pids.into_iter().filter_map(find).collect()
}

fn answers(one: &Listener, port: u16) -> bool {
    let loopback = match one.socket.ip() {
        IpAddr::V4(address) => address.is_loopback() || address.is_unspecified(),
        // A listener on every address of IPv6 takes connections of IPv4 too, unless it declined.
        IpAddr::V6(address) => address.is_unspecified(),
    };
    let listens = one.protocol == Protocol::TCP && one.state == SocketState::Listen;
    listens && loopback && one.socket.port() == port
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_port_is_free_until_somebody_listens_who_is_named() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        assert!(!becomes_free(port, Duration::ZERO).await);
        let who: Vec<u32> = listeners(port).iter().map(|one| one.id.pid).collect();
        assert!(who.contains(&std::process::id()), "{who:?}");
        drop(listener);
        assert!(becomes_free(port, Duration::from_secs(5)).await);
        assert!(!is_port_free(0), "port 0 means any port");
    }

    #[tokio::test]
    async fn two_that_look_at_once_both_find_it_free() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        assert!(becomes_free(port, Duration::from_secs(5)).await);
        let looking = TcpSocket::new_v4().expect("a socket");
        looking.set_reuseaddr(true).expect("set");
        looking.bind(([127, 0, 0, 1], port).into()).expect("bound");
        assert!(is_port_free(port), "a look is no holder");
    }
}
