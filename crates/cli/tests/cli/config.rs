//! `raddle config` and `raddle list`.

use crate::{Folder, raddle, root};

#[test]
fn show_says_where_values_come_from() {
    let folder = Folder::new().with("m.toml", "base = \"fx5800\"\n\n[gpu]\nsms = 3\n");
    let ended = folder.raddle(&["config", "show", "--config", "m.toml", "--set", "gpu.window=2"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    let expected =
        "gpu.sms    = 3  # m.toml:4\ngpu.window = 2  # --set\n\nclock.core         = 1300  # preset fx5800\n";
    assert!(ended.out.starts_with(expected), "{}", ended.out);
}

#[test]
fn what_show_prints_is_a_machine_file() {
    for preset in ["gtx480", "gtx480-v3", "fx5800", "fx5800-deep", "vws-sm", "v100", "rtx3070", "v100-chip"] {
        let shown = raddle(&root(), &["config", "show", "--preset", preset]);
        let folder = Folder::new().with("m.toml", &shown.out);
        let json = |args: &[&str]| {
            let out = folder.raddle(args).out;
            out.split_once(",\"origins\"").map(|(config, _)| config.to_owned()).unwrap()
        };
        let again = json(&["config", "show", "--json", "--config", "m.toml"]);
        assert_eq!(again, json(&["config", "show", "--json", "--preset", preset]));
    }
}

#[test]
fn mistakes_in_a_file_are_underlined() {
    let folder = Folder::new().with("m.toml", "base = \"gtx480\"\n[sm]\nthreds = 64\n");
    folder.raddle(&["config", "show", "--config", "m.toml"]).expect(
        2,
        "",
        "error: there is no key `sm.threds`\n --> m.toml:3:1\n  |\n3 | threds = 64\n  | ^^^^^^\n  |\n  \
         = help: did you mean `threads`?\n",
    );
}

#[test]
fn mistakes_elsewhere_are_named() {
    raddle(&root(), &["config", "show", "--set", "sm.ctas=no"]).expect(
        2,
        "",
        "error: --set sm.ctas=no: `sm.ctas` must be a whole number from 0 to 4294967295, not \"no\"\n",
    );
    raddle(&root(), &["config", "show", "--preset", "gtx580"]).expect(
        2,
        "",
        "error: there is no preset `gtx580`\n |\n = help: did you mean `gtx480`?\n",
    );
}

#[test]
fn the_schema_is_json() {
    let ended = raddle(&root(), &["config", "schema"]);
    let schema: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(schema["properties"]["base"]["enum"][0], "gtx480");
    assert!(schema["$defs"]["SmConfig"]["properties"]["warp_width"].is_object());
}

#[test]
fn import_writes_a_machine_and_lists_the_rest() {
    let text = "-gpgpu_n_clusters 20\n-gpgpu_n_cores_per_cluster 1\n-visualizer_enabled 0\n-gpgpu_scheduler old\n";
    let folder = Folder::new().with("gpgpusim.config", text);
    let ended = folder.raddle(&["config", "import", "gpgpusim.config", "--output", "m.toml"]);
    let lists = "wrote m.toml\noptions without counterpart:\n  gpgpusim.config:3: -visualizer_enabled 0\n\
         options changed or not used:\n  gpgpusim.config:4: -gpgpu_scheduler old: only gto and lrr are known\n\
         not in the file, taken from the preset gtx480:\n";
    assert!(ended.code == 0 && ended.err.starts_with(lists), "{}", ended.err);
    assert!(ended.err.contains("  sm.shared.latency = 26\n") && !ended.err.contains("gpu.sms"), "{}", ended.err);
    let machine = std::fs::read_to_string(folder.0.join("m.toml")).unwrap();
    assert!(
        machine.starts_with("gpu.sms    = 20  # -gpgpu_n_clusters\ngpu.window = 5   # preset gtx480\n"),
        "{machine}"
    );
    assert_eq!(folder.raddle(&["config", "show", "--config", "m.toml"]).code, 0);
}

#[test]
fn presets_are_listed() {
    let ended = raddle(&root(), &["list", "presets"]);
    assert!(ended.out.starts_with("gtx480       GeForce GTX 480 (Fermi), as GPGPU-Sim 4 models it\n"), "{}", ended.out);
    assert_eq!(raddle(&root(), &["list", "presets", "--json"]).out.lines().count(), 8);
}

#[test]
fn a_preset_where_a_file_should_be_is_named() {
    raddle(&root(), &["config", "show", "--config", "vws-sm"]).expect(
        2,
        "",
        "error: there is no machine file `vws-sm`\n |\n = help: a machine of that name comes with Raddle: --preset vws-sm\n",
    );
}
