//! Every check, in the order in which a person wants to read them: what is written, what is there, what
//! runs, what the machine has.

use super::context::Context;
use super::sheet::Sheet;
use super::{
    clock, config, controller, credentials, disk, envs, fallbacks, identity, journal, leftovers,
    limits, manifests, memory, orphans, overrides, permissions, ports, profile, registry, secrets,
    sources, stubs, tags, terraform, tools, ttl,
};

macro_rules! check {
    ($sheet:ident, $check:ident, $gathered:expr) => {
        $sheet.add($check::CHECK, $gathered.map(|facts| $check::judge(&facts)))
    };
}

/// Runs every check.
pub(crate) async fn all(context: &Context<'_>) -> Sheet {
    let mut sheet = Sheet::default();
    let (tools, sources, known, profile) = tokio::join!(
        tools::gather(context),
        sources::gather(context),
        identity::gather(context),
        profile::gather(context)
    );
    check!(sheet, config, Ok(config::gather(context)));
    check!(sheet, journal, journal::gather(context));
    check!(sheet, tools, Ok(tools));
    check!(sheet, terraform, terraform::gather(context).await);
    check!(sheet, sources, sources);
    check!(sheet, envs, envs::gather(context));
    check!(sheet, secrets, secrets::gather(context));
    check!(sheet, stubs, stubs::gather(context));
    check!(sheet, overrides, overrides::gather(context));
    check!(sheet, manifests, manifests::gather(context));
    check!(sheet, fallbacks, fallbacks::gather(context));
    check!(sheet, controller, controller::gather(context));
    check!(sheet, ports, ports::gather(context));
    check!(sheet, orphans, orphans::gather(context));
    check!(sheet, registry, Ok(registry::gather(context)));
    check!(sheet, permissions, permissions::gather(context));
    check!(sheet, ttl, ttl::gather(context));
    check!(sheet, leftovers, leftovers::gather(context));
    check!(sheet, disk, disk::gather(context));
    check!(sheet, memory, memory::gather(context));
    check!(sheet, limits, Ok(limits::gather(context)));
    let known = known.as_ref().map_err(Clone::clone);
    sheet.add(identity::CHECK, known.clone().map(identity::judge));
    sheet.add(credentials::CHECK, known.clone().map(credentials::judge));
    sheet.add(clock::CHECK, known.map(clock::judge));
    check!(sheet, profile, profile);
    sheet.skip(tags::CHECK, &tags::reason(context));
    sheet
}
