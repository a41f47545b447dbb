//! Which loopback port a service's container port gets: by hash, so that it is the same on every machine
//! and after every restart, with probing past the ports that are taken.

use std::collections::{BTreeMap, BTreeSet};

use cp9_model::host::PortWanted;

/// The first port of the range.
pub(crate) const FIRST: u16 = 20_000;
/// How many ports the range has.
pub(crate) const COUNT: u16 = 10_000;

/// Ports by service, then by container port.
pub(crate) type Ports = BTreeMap<String, BTreeMap<u16, u16>>;

/// The port that the hash of session, service and container port asks for.
fn preferred(session: &str, wanted: &PortWanted) -> u16 {
    let text = format!("{session}\0{}\0{}", wanted.service, wanted.container);
    let digest = cp9_model::digest::bytes(text.as_bytes());
    let number = u32::from_str_radix(&digest[..7], 16).unwrap_or_default();
    FIRST + u16::try_from(number % u32::from(COUNT)).unwrap_or_default()
}

/// Allocates every wanted port. One that the session has and may keep stays; `usable` says whether a port
/// is free on this machine, `others` are reserved by other sessions. None when the range is used up.
pub(crate) fn allocate(
    session: &str,
    wanted: &[PortWanted],
    has: &Ports,
    others: &BTreeSet<u16>,
    usable: &dyn Fn(&PortWanted, u16) -> bool,
) -> Option<Ports> {
    let mut ports = Ports::new();
    let mut taken = others.clone();
    for want in wanted {
        let old = has
            .get(&want.service)
            .and_then(|ports| ports.get(&want.container))
            .copied();
        let probing =
            (0..COUNT).map(|step| FIRST + (preferred(session, want) - FIRST + step) % COUNT);
        let port = old
            .into_iter()
            .chain(probing)
            .find(|port| !taken.contains(port) && usable(want, *port))?;
        taken.insert(port);
        ports
            .entry(want.service.clone())
            .or_default()
            .insert(want.container, port);
    }
    Some(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(service: &str, container: u16) -> PortWanted {
        PortWanted {
            service: service.into(),
            container,
        }
    }

    #[test]
    fn ports_are_stable_distinct_and_in_range() {
        let wanted = [want("a", 80), want("a", 81), want("b", 80)];
        let free = |_: &PortWanted, _: u16| true;
        let one = allocate("s", &wanted, &Ports::new(), &BTreeSet::new(), &free).expect("room");
        let two = allocate("s", &wanted, &Ports::new(), &BTreeSet::new(), &free).expect("room");
        assert_eq!(one, two);
        let all: BTreeSet<u16> = one
            .values()
            .flat_map(|ports| ports.values().copied())
            .collect();
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|port| (FIRST..FIRST + COUNT).contains(port)));
        let other = allocate("t", &wanted, &Ports::new(), &BTreeSet::new(), &free).expect("room");
        assert_ne!(one, other);
    }

    #[test]
    fn taken_ports_are_passed_over_and_kept_ones_stay() {
        let wanted = [want("a", 80)];
        let free = |_: &PortWanted, _: u16| true;
        let first =
            allocate("s", &wanted, &Ports::new(), &BTreeSet::new(), &free).expect("room")["a"][&80];
        let next =
            allocate("s", &wanted, &Ports::new(), &BTreeSet::from([first]), &free).expect("room");
        assert_ne!(next["a"][&80], first);
        let kept = allocate("s", &wanted, &next, &BTreeSet::new(), &free).expect("room");
        assert_eq!(
            kept, next,
            "a port once allocated is kept although the preferred one is free again"
        );
        let none = |_: &PortWanted, _: u16| false;
        assert!(allocate("s", &wanted, &Ports::new(), &BTreeSet::new(), &none).is_none());
    }
}
