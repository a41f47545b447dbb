//! Whose answer a probe got: a port that somebody else listens on makes no process ready.

use cp9_model::devplan::Check;
use cp9_model::scope::{ENV_ID, ENV_START};
use cp9_tools::ProcessId;
use cp9_tools::procs::{self, ProcessFacts};

/// Listen for what runs in containers.
const FORWARDERS: [&str; 4] = ["docker-proxy", "rootlesskit", "rootlessport", "conmon"];

/// Whose port it must be.
#[derive(Debug)]
pub(super) struct Holder {
    /// The process of the resource.
    pub(super) process: ProcessId,
    /// The processes of the other resources, by their names.
    pub(super) others: Vec<(String, ProcessId)>,
    /// The id of the session, which all its processes carry.
    pub(super) session: String,
}

/// A process that listens.
#[derive(Debug, PartialEq, Eq)]
enum Listener {
    Ours,
    Unknown,
    Stranger(String),
}

impl Holder {
    /// What is wrong with the ports of a check that was answered, if anything.
    pub(super) fn judge(&self, check: &Check) -> Result<(), String> {
        let faults = ports(check).iter().filter_map(|port| self.fault(*port));
        faults.map(Err).next().unwrap_or(Ok(()))
    }

    /// Speaks only of what is sure: listeners of other users cannot be seen.
    fn fault(&self, port: u16) -> Option<String> {
        let who = procs::listeners(port);
        let strangers: Option<Vec<String>> = who
            .iter()
            .map(|one| self.listener(one))
            .map(|one| match one {
                Listener::Stranger(name) => Some(name),
                Listener::Ours | Listener::Unknown => None,
            })
            .collect();
        let stranger = strangers?.into_iter().next()?;
        Some(format!(
            "port {port} is answered by {stranger}, not by this service, which cannot have it"
        ))
    }

    fn listener(&self, facts: &ProcessFacts) -> Listener {
        let pid = facts.id.pid;
        let comes_from = |process: ProcessId| procs::comes_from(pid, process.pid);
        if comes_from(self.process) {
            return Listener::Ours;
        }
        if let Some((other, _)) = self.others.iter().find(|(_, one)| comes_from(*one)) {
            return Listener::Stranger(format!("`{other}` (pid {pid})"));
        }
        // A daemon that has left its parent still carries the marks of the session and of its start.
        if facts.var(ENV_ID) == Some(&self.session) {
            return if self.is_of_this_start(facts) {
                Listener::Ours
            } else {
                let name = &facts.name;
                Listener::Stranger(format!("`{name}` (pid {pid}) of another start"))
            };
        }
        if FORWARDERS.contains(&facts.name.as_str()) {
            return Listener::Unknown;
        }
        Listener::Stranger(format!("`{}` (pid {pid})", facts.name))
    }

    /// True for what the process of the resource has started, and where nothing is known of its start.
    fn is_of_this_start(&self, facts: &ProcessFacts) -> bool {
        let own = procs::find(self.process.pid);
        let own = own.as_ref().and_then(|own| own.var(ENV_START));
        own.is_none_or(|own| facts.var(ENV_START) == Some(own))
    }
}

fn ports(check: &Check) -> &[u16] {
    match check {
        Check::Tcp { port } | Check::Http { port, .. } => std::slice::from_ref(port),
        Check::Ports { ports } => ports,
        Check::Exec { .. } | Check::Alive { .. } => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const NOBODY: ProcessId = ProcessId {
        pid: u32::MAX,
        start_time: 0,
    };

    fn holder(process: ProcessId, others: &[(&str, ProcessId)]) -> Holder {
        let other = |(name, id): &(&str, ProcessId)| ((*name).to_owned(), *id);
        Holder {
            process,
            others: others.iter().map(other).collect(),
            session: "a session of its own".into(),
        }
    }

    #[test]
    fn only_the_process_itself_may_answer() {
        let socket = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = socket.local_addr().expect("an address").port();
        let this = procs::find(procs::own_pid()).expect("this process").id;
        let check = Check::Ports { ports: vec![port] };
        assert_eq!(holder(this, &[]).judge(&check), Ok(()));
        let fault = holder(NOBODY, &[]).judge(&check).expect_err("a stranger");
        assert!(fault.contains(&format!("(pid {})", this.pid)), "{fault}");
        let check = Check::Tcp { port };
        let fault = holder(NOBODY, &[("web", this)])
            .judge(&check)
            .expect_err("another service");
        assert!(fault.contains("answered by `web`"), "{fault}");
        drop(socket);
        assert_eq!(holder(NOBODY, &[]).judge(&check), Ok(()), "nobody seen");
    }

    #[test]
    fn daemons_and_containers_are_no_strangers() {
        let mut facts = procs::find(procs::own_pid()).expect("this process");
        facts.env = vec![(ENV_ID.to_owned(), "a session of its own".into())];
        assert_eq!(holder(NOBODY, &[]).listener(&facts), Listener::Ours);
        facts.env.clear();
        facts.name = "docker-proxy".into();
        assert_eq!(holder(NOBODY, &[]).listener(&facts), Listener::Unknown);
    }
}
