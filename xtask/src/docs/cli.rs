//! stub
pub(crate) fn page(_: &serde_json::Value) -> anyhow::Result<String> {
    anyhow::bail!("none")
}
