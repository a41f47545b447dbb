//! Files and folders of mounts.

use serde_json::json;

use super::api;

const OBJECTS: &str = "kind: ConfigMap
metadata: {name: files}
data: {app.yaml: 'listen: :8080, self: /etc/app/app.yaml', other.txt: x}
binaryData: {blob: /w8=}
---
kind: Secret
metadata: {name: tls}
stringData: {key: 's3cr3t /etc/app'}
";
const NAMED: &str = "args: ['--config=/etc/app/app.yaml']";

fn mount(mounts: &str, volumes: &str) -> super::Case {
    api(
        json!({}),
        &format!("{NAMED}, volumeMounts: [{mounts}]"),
        &format!("volumes: [{volumes}]"),
        OBJECTS,
    )
}

#[test]
fn config_maps_are_laid_and_their_paths_rewritten() {
    let rendered = mount(
        "{name: v, mountPath: /etc/app/}",
        "{name: v, configMap: {name: files}}",
    )
    .good();
    let workload = rendered.of("api");
    assert_eq!(
        workload.argv[1],
        "--config=${session}/run/api/root/etc/app/app.yaml"
    );
    assert_eq!(
        rendered.input("run/api/etc/app/app.yaml"),
        "listen: :8080, self: /w/.cp9/demo/run/api/root/etc/app/app.yaml"
    );
    assert_eq!(
        rendered.inputs[camino::Utf8Path::new("run/api/etc/app/blob")],
        [255, 15]
    );
    assert_eq!(
        workload.files[0].path,
        "${session}/run/api/root/etc/app/app.yaml"
    );
    assert_eq!(
        workload.files[0].source,
        "${session}/tilt/inputs/run/api/etc/app/app.yaml"
    );
    assert!(
        workload
            .dirs
            .contains(&"${session}/run/api/root/etc/app".to_owned())
    );
    let rewrites = &rendered.report.services[0].rewrites;
    assert!(
        rewrites
            .iter()
            .all(|rewrite| rewrite.to == "${session}/run/api/root/etc/app"),
        "{rewrites:?}"
    );
}

#[test]
fn items_and_sub_paths_choose() {
    let items = "{name: v, configMap: {name: files, items: [{key: other.txt, path: sub/o.txt}]}}";
    let rendered = mount("{name: v, mountPath: /etc/app}", items).good();
    assert_eq!(rendered.input("run/api/etc/app/sub/o.txt"), "x");
    let rendered = mount(
        "{name: v, mountPath: /etc/app/app.yaml, subPath: app.yaml}",
        "{name: v, configMap: {name: files}}",
    )
    .good();
    assert_eq!(rendered.of("api").files.len(), 1);
    assert!(
        !rendered
            .of("api")
            .dirs
            .iter()
            .any(|dir| dir.contains("etc/app"))
    );
    let rendered = mount("{name: v, mountPath: /etc/app, subPath: sub}", items).good();
    assert_eq!(rendered.input("run/api/etc/app/o.txt"), "x");
}

#[test]
fn secrets_are_laid_from_the_secret_file() {
    let rendered = mount(
        "{name: v, mountPath: /etc/app}",
        "{name: v, secret: {secretName: tls}}",
    )
    .good();
    assert_eq!(
        rendered.secret_file("api"),
        "FILE_etc_app_key=s3cr3t /w/.cp9/demo/run/api/root/etc/app\n"
    );
    let file = &rendered.of("api").files[0];
    assert_eq!(
        (file.source.as_str(), file.key.as_deref()),
        ("${session}/secrets/api.env", Some("FILE_etc_app_key"))
    );
    assert!(
        rendered
            .inputs
            .values()
            .all(|bytes| !String::from_utf8_lossy(bytes).contains("s3cr3t"))
    );
}

#[test]
fn projected_and_downward_volumes() {
    let volumes = "{name: v, projected: {sources: [{configMap: {name: files, items: [{key: other.txt, path: o}]}}, {downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}]}}";
    let rendered = mount("{name: v, mountPath: /etc/app}", volumes).good();
    assert_eq!(rendered.input("run/api/etc/app/labels"), "app=\"api\"");
    assert_eq!(rendered.input("run/api/etc/app/o"), "x");
    let token = "{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}";
    assert_eq!(
        mount("{name: v, mountPath: /etc/app}", token)
            .problem()
            .code,
        "CP9-C315"
    );
}

#[test]
fn a_mount_named_nowhere_is_refused() {
    let volumes = "{name: v, configMap: {name: files}}";
    let found = mount("{name: v, mountPath: /etc/other}", volumes).problem();
    assert_eq!(found.code, "CP9-C315");
    assert!(
        found
            .help
            .as_deref()
            .is_some_and(|help| help.contains("`volumes/v` to `run.ignore`")),
        "{found:?}"
    );
    let pod = format!("volumes: [{volumes}]");
    let mounts = "volumeMounts: [{name: v, mountPath: /etc/other}]";
    for run in [
        json!({"env": {"CONFIG": "/etc/other/app.yaml"}}),
        json!({"ignore": ["volumes/v"]}),
        json!({"command": ["${binary}", "/etc/other"]}),
    ] {
        api(run, mounts, &pod, OBJECTS).good();
    }
    let rendered = api(
        json!({}),
        &format!("workingDir: /etc/other/, {mounts}"),
        &pod,
        OBJECTS,
    )
    .good();
    assert_eq!(rendered.of("api").cwd, "${session}/run/api/root/etc/other");
}

#[test]
fn empty_folders_and_claims_need_no_name() {
    let rendered = mount(
        "{name: a, mountPath: /cache}, {name: b, mountPath: /data}, {name: c, mountPath: /opt}",
        "{name: a, emptyDir: {}}, {name: b, persistentVolumeClaim: {claimName: x}}, {name: c, configMap: {name: none, optional: true}}",
    )
    .good();
    for folder in ["cache", "data", "opt"] {
        assert!(
            rendered
                .of("api")
                .dirs
                .contains(&format!("${{session}}/run/api/root/{folder}"))
        );
    }
}

#[test]
fn wrong_volumes_have_a_place() {
    let files = "{name: v, configMap: {name: files}}";
    for (mounts, volumes, message) in [
        (
            "{name: x, mountPath: /etc/app}",
            files,
            "volume `x` is mounted and not declared",
        ),
        (
            "{name: v, mountPath: /etc/../app}",
            files,
            "`/etc/../app` is no path",
        ),
        ("{name: v, mountPath: /}", files, "`/` is no path"),
        (
            "{name: v, mountPath: /etc/app, subPathExpr: $(X)}",
            files,
            "uses `subPathExpr`",
        ),
        (
            "{name: v, mountPath: /etc/app, subPath: none}",
            files,
            "`subPath: none` names no file",
        ),
        (
            "{name: v, mountPath: /etc/app}",
            "{name: v, configMap: {name: none}}",
            "ConfigMap `none` is not in the manifests",
        ),
        (
            "{name: v, mountPath: /etc/app}",
            "{name: v, configMap: {name: files, items: [{key: k, path: p}]}}",
            "has no key `k`",
        ),
        (
            "{name: v, mountPath: /etc/app}",
            "{name: v, configMap: {name: files, items: [{key: blob, path: ../p}]}}",
            "`../p` is no path",
        ),
        (
            "{name: v, mountPath: /etc/app}, {name: v, mountPath: /etc/app/}",
            files,
            "mounted over each other",
        ),
    ] {
        let found = mount(mounts, volumes).problem();
        assert!(found.message.contains(message), "{}", found.message);
        assert_eq!(found.code, "CP9-C315");
    }
}
