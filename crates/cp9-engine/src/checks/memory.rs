//! Memory that is available, against a rough estimate of what the session still needs: so much for each
//! service that does not run yet, and for as many builds as run at once.

use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::report::doctor::Finding;
use cp9_tools::machine;

use super::context::Context;
use super::disk::size;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "memory";

const MIB: u64 = 1024 * 1024;
/// The controller, with its index of logs.
const CONTROLLER: u64 = 32 * MIB;
/// A service of moderate size.
const SERVICE: u64 = 128 * MIB;
/// A stub server.
const STUB: u64 = 32 * MIB;
/// A compiler or linker at work on such a service.
const BUILD: u64 = 512 * MIB;

/// What there is and what is to come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    available: u64,
    controller: bool,
    /// Services that do not run yet.
    services: u64,
    /// Stubs that do not run yet.
    stubs: u64,
    /// Builds that may run at once.
    builds: u64,
}

/// Reads it.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let memory = machine::memory();
    if memory.total == 0 {
        return Err("the system does not tell how much memory there is".to_owned());
    }
    let none = Facts {
        available: memory.available,
        ..Facts::default()
    };
    Ok(match context.config() {
        Some(config) => to_come(context, config, none),
        None => none,
    })
}

fn to_come(context: &Context<'_>, config: &ResolvedConfig, none: Facts) -> Facts {
    let living: Vec<String> = context.living().into_iter().map(|(name, _)| name).collect();
    let waiting = |names: Vec<&str>| {
        let names = names.into_iter();
        count(names.filter(|name| living.iter().all(|other| other != name)))
    };
    let services = &config.services;
    let real = services.source.keys().chain(services.live.keys());
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Facts {
        controller: context.controller_state() != Some("running"),
        services: waiting(real.map(cp9_model::ServiceName::as_str).collect()),
        stubs: waiting(
            services
                .stub
                .keys()
                .map(cp9_model::ServiceName::as_str)
                .collect(),
        ),
        builds: count(services.source.keys().take(processors)),
        ..none
    }
}

fn count<T>(things: impl Iterator<Item = T>) -> u64 {
    things.count().try_into().unwrap_or(u64::MAX)
}

fn need(facts: &Facts) -> u64 {
    let parts = [
        (u64::from(facts.controller), CONTROLLER),
        (facts.services, SERVICE),
        (facts.stubs, STUB),
        (facts.builds, BUILD),
    ];
    parts.iter().fold(0, |sum: u64, (count, each)| {
        sum.saturating_add(count.saturating_mul(*each))
    })
}

/// Judges it.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let need = need(facts);
    let available = size(facts.available);
    let finding = if facts.available < need {
        let text = format!(
            "{available} of memory available, and the session may need {} more",
            size(need)
        );
        Finding::warning(CHECK, "memory-low", text)
            .remedy("end other programs, or make some services stubs")
    } else {
        let text = format!(
            "{available} of memory available, about {} needed",
            size(need)
        );
        Finding::ok(CHECK, "memory", text)
    };
    vec![finding]
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    #[test]
    fn the_estimate_is_the_sum_of_what_is_to_come() {
        let facts = Facts {
            available: 0,
            controller: true,
            services: 3,
            stubs: 2,
            builds: 2,
        };
        assert_eq!(need(&facts), (32 + 3 * 128 + 2 * 32 + 2 * 512) * MIB);
        assert_eq!(need(&Facts::default()), 0);
        let absurd = Facts {
            services: u64::MAX,
            ..facts
        };
        assert_eq!(need(&absurd), u64::MAX);
    }

    #[test]
    fn too_little_is_a_warning() {
        let facts = |available| Facts {
            available,
            services: 1,
            ..Facts::default()
        };
        let low = judge(&facts(SERVICE - 1)).remove(0);
        assert_eq!(
            (low.id.as_str(), low.severity),
            ("memory-low", Severity::Warning)
        );
        assert_eq!(judge(&facts(SERVICE))[0].severity, Severity::Ok);
    }
}
