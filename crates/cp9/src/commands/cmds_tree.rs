//! `cp9 cmds.tree`.

use cp9_model::ExitCode;

use crate::cli;
use crate::tree::Tree;
use crate::ui::{Format, Ui};

/// Prints the command tree.
pub(crate) fn run(ui: &mut Ui) -> ExitCode {
    let tree = Tree::read(&cli::command());
    if ui.format() == Format::Text {
        ui.text(&tree.text());
    }
    ui.finish(
        Some(serde_json::to_value(&tree).expect("the tree is plain data")),
        None,
        None,
    );
    ExitCode::Success
}
