//! Stops a run inside a named state, so that tests can show that it recovers. Compiled only with the
//! feature `fault-injection`: `CP9_FAULT=<state>:before|after-effect:error|sigint|sigkill`.

use cp9_model::lifecycle::StateName;
use cp9_tools::Doors;

use crate::error::EngineError;

/// Where in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// Journaled as running, nothing done yet.
    Before,
    /// Everything done, not journaled yet.
    AfterEffect,
}

/// Does nothing: this build has no fault hooks.
#[cfg(not(feature = "fault-injection"))]
#[expect(clippy::unused_async, reason = "the hooks of test builds wait here")]
pub(crate) async fn point(
    _doors: &Doors,
    _state: StateName,
    _point: Point,
) -> Result<(), EngineError> {
    Ok(())
}

#[cfg(feature = "fault-injection")]
pub(crate) use hooks::point;

#[cfg(feature = "fault-injection")]
mod hooks {
    use cp9_model::{Category, Explain};
    use cp9_tools::procs::{self, Signal};
    use thiserror::Error;

    use super::{Doors, EngineError, Point, StateName};

    /// The error that a fault raises.
    #[derive(Debug, Error)]
    #[error("fault injected in state `{state}`")]
    struct Injected {
        state: StateName,
    }

    impl Explain for Injected {
        fn category(&self) -> Category {
            Category::Permanent
        }
        fn code(&self) -> &'static str {
            "fault-injected"
        }
    }

    /// Stops here if `CP9_FAULT` says so.
    pub(crate) async fn point(
        doors: &Doors,
        state: StateName,
        point: Point,
    ) -> Result<(), EngineError> {
        let word = match point {
            Point::Before => "before",
            Point::AfterEffect => "after-effect",
        };
        let wanted = doors.env.get("CP9_FAULT").unwrap_or_default();
        let Some(how) = wanted.strip_prefix(&format!("{state}:{word}:")) else {
            return Ok(());
        };
        match how {
            "sigkill" => procs::raise(Signal::Kill),
            "sigint" => {
                procs::raise(Signal::Int);
                doors.cancel.cancelled().await;
            }
            _ => {}
        }
        Err(Injected { state }.into())
    }
}
