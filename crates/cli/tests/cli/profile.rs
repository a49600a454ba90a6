//! `raddle profile`.

use crate::{Folder, raddle, root};
use serde_json::Value;

/// Lanes of a warp read words that are 128 bytes apart; lines are those of two files, one of them inlined.
const STRIDED: &str = ".version 7.2\n.target sm_50\n.address_size 64\n\
    .visible .entry strided(.param .u64 in, .param .u64 out)\n{\n\
    .reg .b32 %r<3>;\n.reg .b64 %rd<6>;\n\
    .loc 1 3 0\n\
    mov.u32 %r1, %tid.x;\n\
    ld.param.u64 %rd1, [in];\n\
    ld.param.u64 %rd2, [out];\n\
    mul.wide.u32 %rd3, %r1, 128;\n\
    mul.wide.u32 %rd4, %r1, 4;\n\
    .loc 2 1 5, function_name $L__info_string0, inlined_at 1 4 9\n\
    add.u64 %rd3, %rd1, %rd3;\n\
    ld.global.u32 %r2, [%rd3];\n\
    .loc 1 5 0\n\
    add.u64 %rd4, %rd2, %rd4;\n\
    st.global.u32 [%rd4], %r2;\n\
    ret;\n}\n\
    .file 1 \"strided.cu\"\n.file 2 \"load.h\"\n\
    .section .debug_str\n{\n$L__info_string0:\n.b8 108\n.b8 0\n}\n";

const SOURCE: &str = "// Words far apart.\n__global__ void strided(int *in, int *out) {\n\
    int i = threadIdx.x;\nint value = load(in + 32 * i);\nout[i] = value;\n}\n";

const LAUNCH: &str = "module = 'strided.ptx'\n\
    [buffers.in]\ntype = 'u32'\nlen = 4096\nfill = 'iota'\n\
    [buffers.out]\ntype = 'u32'\nlen = 64\n\
    [[launch]]\ngrid = 1\nblock = 64\nargs = ['in', 'out']\n";

fn strided(more: &[&str]) -> crate::Ended {
    let folder = Folder::new().with("strided.ptx", STRIDED).with("strided.cu", SOURCE);
    let args = ["profile", "strided.ptx", "--grid", "1", "--block", "64"];
    let buffers = ["--arg", "buf:u32:4096=iota", "--arg", "buf:u32:64=zero"];
    folder.raddle(&[&args[..], &buffers, more].concat())
}

#[test]
fn lines_are_shown_with_their_text() {
    let ended = strided(&[]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    let line = |text: &str| {
        let found = ended.out.lines().find(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("no {text} in:\n{}", ended.out)).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(line("strided.cu:5").ends_with("4.0 of 4.0 - strided.cu:5 out[i] = value;"), "{}", ended.out);
    assert!(line("strided.cu:5").contains("memory dependence"), "{}", ended.out);
    assert!(line("load.h:1").ends_with("32.0 32.0 of 4.0 - load.h:1 (inlined at strided.cu:4)"), "{}", ended.out);
    assert!(line("no warp resident").starts_with(|c: char| c.is_ascii_digit()), "{}", ended.out);
    assert!(ended.out.starts_with("strided: 1 launch, "), "{}", ended.out);
    let short = strided(&["--top", "1", "--ptx"]);
    assert!(short.out.contains("2 lines more (--top)"), "{}", short.out);
    assert!(short.out.contains(": st.global.u32 [%rd4], %r2;"), "{}", short.out);
}

#[test]
fn sums_are_the_counters_of_the_run() {
    let json = |command: &str| -> Value {
        let ended = raddle(&root(), &[command, "bfs", "--size", "tiny", "--json"]);
        assert_eq!(ended.code, 0, "{}", ended.err);
        serde_json::from_str(&ended.out).unwrap()
    };
    let (profile, run) = (json("profile"), json("run"));
    let kernels = profile["kernels"].as_array().unwrap();
    let sum = |name: &str| kernels.iter().map(|k| k["total"][name].as_u64().unwrap()).sum::<u64>();
    let counted = |group: &str, name: &str| {
        let launches = run["launches"].as_array().unwrap();
        launches.iter().map(|l| l["timing"]["total"][group][name].as_u64().unwrap()).sum::<u64>()
    };
    for name in ["warp_insts", "stall_memory_dependence", "stall_not_fetched", "read_latency", "shared_bank_conflicts"]
    {
        assert_eq!(sum(name), counted("sm", name), "{name}");
    }
    assert_eq!(sum("lanes_active"), counted("sm", "thread_insts"));
    assert_eq!(sum("diverged"), counted("sm", "divergent_branches"));
    let lines = kernels[0]["lines"].as_array().unwrap();
    let slots = |line: &Value| line["slots"].as_u64().unwrap();
    let all = lines.iter().map(slots).sum::<u64>() + kernels[0]["no_warp_resident"].as_u64().unwrap();
    assert_eq!(all, kernels[0]["slots"].as_u64().unwrap());
    assert!(lines.iter().any(|line| line["file"] == "bfs.cu" && line["text"].as_str().is_some_and(|t| !t.is_empty())));
    let insts = lines[0]["instructions"].as_array().unwrap();
    assert_eq!(
        insts.iter().map(|i| i["counters"]["issued"].as_u64().unwrap()).sum::<u64>(),
        lines[0]["counters"]["issued"]
    );
}

#[test]
fn what_a_profile_cannot_be_of_is_refused() {
    for (option, text) in [("--engine=fast", "engine `fast`"), ("--sample=blocks=5%", "--sample is for")] {
        let ended = strided(&[option]);
        assert_eq!(ended.code, 2, "{}", ended.err);
        assert!(ended.err.contains(text), "{}", ended.err);
    }
}

#[test]
fn a_page_has_everything_in_one_file() {
    let source = SOURCE.replace("// Words", "// <!--<script> </script> <\\!-- Words");
    let folder = Folder::new().with("strided.ptx", STRIDED).with("strided.cu", &source);
    let args = ["profile", "strided.ptx", "--grid", "1", "--block", "64", "--html", "page.html"];
    let ended = folder.raddle(&[&args[..], &["--arg", "buf:u32:4096=iota", "--arg", "buf:u32:64=zero"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.err);
    let page = std::fs::read_to_string(folder.0.join("page.html")).unwrap();
    let start = page.find("application/json\">").expect("there is data") + "application/json\">".len();
    let text = page[start..].split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(text).expect("the source does not end the data");
    assert_eq!(data["kernels"][0]["name"], "strided");
    assert_eq!(data["files"]["strided.cu"][0], "// <!--<script> </script> <\\!-- Words far apart.");
    assert_eq!(data["files"]["strided.cu"][4], "out[i] = value;");
    assert!(!text.contains("<!--"), "it would hide the end of the data");
    assert_eq!(data["ptx"][0].as_array().unwrap().len(), STRIDED.lines().count());
    let is_named = |key: &str| data["causes"].as_array().unwrap().iter().any(|cause| cause["key"] == key);
    assert!(is_named("issued") && is_named("memory_dependence") && !is_named("no_warp_resident"));
    assert!(!page.contains("http"), "it needs no network");
}

#[test]
fn what_slows_a_kernel_is_measured_on_a_machine_without_it() {
    let advice = |more: &[&str]| -> Vec<Value> {
        let ended = strided(&[&["--json", "--set", "gpu.sms=1"], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.err);
        let value: Value = serde_json::from_str(&ended.out).unwrap();
        value["kernels"][0]["advice"].as_array().unwrap().clone()
    };
    let bound = advice(&[]).into_iter().find(|one| one["problem"] == "coalescing").expect("words are far apart");
    assert_eq!((&bound["file"], &bound["line"]), (&"load.h".into(), &1.into()));
    assert!(bound["saved_cycles"].is_null() && bound["at_most_cycles"].as_u64() > Some(0), "{bound}");
    let measured = advice(&["--what-if"]).into_iter().find(|one| one["problem"] == "coalescing").unwrap();
    assert!(measured["saved_cycles"].as_i64() > Some(0), "{measured}");
    let none = advice(&["--set", "sm.ideal.coalescing=true"]);
    assert!(none.iter().all(|one| one["problem"] != "coalescing"), "{none:?}");
    let text = strided(&["--what-if", "--set", "gpu.sms=1"]).out;
    assert!(text.contains("What slows strided down:\n") && text.contains("cycles without it"), "{text}");
}

#[test]
fn arguments_are_for_programs() {
    let ended = strided(&["--", "5"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("strided.ptx is not a program and takes no arguments"), "{}", ended.err);
}

/// PTX with a line of its own source and one of another file, which a hostile module would like to have shown.
fn naming(other: &str) -> String {
    let inlined = ", function_name $L__info_string0, inlined_at 1 4 9";
    STRIDED.replace(".file 2 \"load.h\"", &format!(".file 2 \"{other}\"")).replace(inlined, "")
}

#[test]
fn only_sources_in_the_folders_of_the_command_are_shown() {
    let folder = Folder::new().with("secret.txt", "a secret\n");
    let own = folder.0.join("own");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("strided.cu"), SOURCE).unwrap();
    std::fs::write(own.join("launch.toml"), LAUNCH).unwrap();
    let secret = folder.0.join("secret.txt").display().to_string();
    let commands: [&[&str]; 5] = [
        &["profile", "--html", "page.html", "--json"],
        &["lanes", "--output", "picture.svg", "--set", "gpu.sms=1"],
        &["phases", "--output", "picture.svg"],
        &["accesses", "--output", "picture.svg"],
        &["plot", "accesses", "--output", "picture.svg", "--ptx-line", "16"],
    ];
    for name in ["../secret.txt", &secret] {
        std::fs::write(own.join("strided.ptx"), naming(name)).unwrap();
        for command in commands {
            let written = || {
                let read = |file| std::fs::read_to_string(folder.0.join(file)).unwrap_or_default();
                read("page.html") + &read("picture.svg")
            };
            let run = |more: &[&str]| {
                for file in ["page.html", "picture.svg"] {
                    let _ = std::fs::remove_file(folder.0.join(file));
                }
                folder.raddle(&[command, &["own/launch.toml"], more].concat())
            };
            let ended = run(&[]);
            assert_eq!(ended.code, 0, "{command:?}: {}", ended.err);
            assert!(!(ended.out + &written()).contains("a secret"), "{command:?} shows {name}");
            assert_eq!(ended.err.matches("secret.txt").count(), 1, "{command:?}: {}", ended.err);
            assert!(ended.err.contains("--source-folder"), "{command:?}: {}", ended.err);
            let allowed = run(&["--source-folder", "."]);
            assert!(!allowed.err.contains("secret.txt"), "{command:?}: {}", allowed.err);
            let shows_it = (allowed.out + &written()).contains("a secret");
            assert!(shows_it || command[0] != "profile", "--source-folder shows it");
        }
    }
    let wrong = folder.raddle(&["profile", "own/launch.toml", "--source-folder", "none"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.err.contains("cannot read the folder none: "), "{}", wrong.err);
}
