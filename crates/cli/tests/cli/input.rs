//! Whatever is given to the program, it ends by itself and says what is wrong.

use crate::{Folder, raddle, root, saxpy};
use std::fs::File;
use std::process::{Command, Stdio};

/// A kernel of one thread or more that prints a line `n` times: a colour, a number, a carriage return.
const PRINTS: &str = "\
.version 6.0
.target sm_50
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .b8 fmt[16] = {27, 91, 51, 49, 109, 110, 61, 37, 100, 13, 10, 0};
.visible .entry k(.param .u32 n)
{
    .local .align 8 .b8 args[8];
    .reg .u64 %f, %a;
    .reg .u32 %i, %n, %t;
    .reg .pred %p;
    mov.u64 %f, fmt;
    cvta.global.u64 %f, %f;
    mov.u64 %a, args;
    cvta.local.u64 %a, %a;
    ld.param.u32 %n, [n];
    mov.u32 %i, 0;
again:
    st.local.u32 [args], %i;
    {
        .param .b64 f; .param .b64 a; .param .b32 r;
        st.param.b64 [f], %f;
        st.param.b64 [a], %a;
        call (r), vprintf, (f, a);
        ld.param.b32 %t, [r];
    }
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n;
    @%p bra again;
    ret;
}
";

#[test]
fn what_is_no_file_is_not_read() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy());
    for name in ["p.ptx", "p.toml", "p.npy", "p.bin"] {
        assert!(Command::new("mkfifo").arg(folder.0.join(name)).status().unwrap().success());
    }
    let launch = ["run", "saxpy.ptx", "-g", "1", "-b", "1", "-a", "1", "-a", "1", "-a"];
    let with = |argument| [&launch[..], &[argument, "-a", "0"]].concat();
    let machine = |option| vec!["run", "saxpy.ptx", "-g", "1", "-b", "1", option];
    let commands = [
        (vec!["run", "p.ptx"], "p.ptx"),
        (vec!["run", "p.toml"], "p.toml"),
        (vec!["run", "/dev/zero"], "/dev/zero"),
        (with("buf:f32:@p.npy"), "p.npy"),
        (with("buf:f32:@p.bin"), "p.bin"),
        (with("buf:f32:@/dev/zero"), "/dev/zero"),
        (with("buf:f32:1=zero,expect=p.npy"), "p.npy"),
        ([with("0"), vec!["--config", "p.toml"]].concat(), "p.toml"),
        ([with("0"), vec!["--energy=p.toml"]].concat(), "p.toml"),
        (vec!["ptx", "check", "p.ptx"], "p.ptx"),
        (vec!["ptx", "print", "/dev/zero"], "/dev/zero"),
        (vec!["config", "show", "--config", "/dev/zero"], "/dev/zero"),
        (vec!["config", "import", "p.toml"], "p.toml"),
        (vec!["lab", "run", "p.toml"], "p.toml"),
        (machine("--config=/dev/zero"), "/dev/zero"),
    ];
    for (command, file) in commands {
        let ended = folder.raddle(&command);
        let expected = format!(
            "error: cannot read {file}: it is a pipe, a device or a socket; write what it holds to a file, and name that\n"
        );
        assert_eq!((ended.code, ended.err), (2, expected), "{command:?}");
    }
}

#[test]
fn buffers_and_options_larger_than_anything_are_refused() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy());
    let launch = ["run", "saxpy.ptx", "-g", "1", "-b", "256", "-a", "256", "-a", "2", "-a", "x=buf:f32:256"];
    let refused = |more: &[&str], message: &str| {
        folder.raddle(&[&launch, more].concat()).expect(2, "", &format!("error: {message}\n"));
    };
    for (size, bytes) in [("4294967296", "17179869184"), ("18446744073709551615=iota", "18446744073709551615")] {
        refused(
            &["-a", &format!("y=buf:f32:{size}")],
            &format!("buffer `y` has {bytes} bytes, and 1024 are taken; a device has 8589934592, that is 8 GiB"),
        );
    }
    // What 32 bits do not hold, and what is small again once cut to them.
    for (registers, all) in [(134_217_728_u32, 34_359_738_368_u64), (134_217_732, 34_359_739_392), (u32::MAX, 1 << 40)]
    {
        refused(
            &["-a", "x", "--registers", &registers.to_string()],
            &format!("a block needs {all} registers, an SM has 32768"),
        );
    }
    let block = ["run", "saxpy.ptx", "-g", "1", "-b", "4294967295,4294967295,4294967295", "-a", "0", "-a", "0"];
    let ended = folder.raddle(&[&block[..], &["-a", "0", "-a", "0"]].concat());
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("at most 1024 are possible"), "{}", ended.err);
}

/// With less memory than a device has.
#[cfg(target_os = "linux")]
#[test]
fn memory_the_host_does_not_have_is_an_error() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy());
    let run = "run saxpy.ptx --threads 1 -g 1 -b 1 -a 1 -a 2 -a x=buf:f32:1 -a y=buf:f32:1073741824";
    let shell = format!("ulimit -v 2000000; exec {} {run}", env!("CARGO_BIN_EXE_raddle"));
    let ended = Command::new("sh").args(["-c", &shell]).current_dir(&folder.0).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(said, "error: buffer `y` has 4294967296 bytes, for which the host has no memory\n");
    assert_eq!(ended.status.code(), Some(2));
}

#[test]
fn a_launch_prints_only_so_much() {
    let folder = Folder::new().with("a.ptx", PRINTS);
    for engine in ["timing", "fast", "reference"] {
        let few = folder.raddle(&["run", "a.ptx", "-g", "1", "-b", "1", "-a", "2", "--engine", engine]);
        assert!(few.out.starts_with("\x1b[31mn=0\r\n\x1b[31mn=1\r\n"), "no terminal, so as it is: {}", few.out);
        let many = folder.raddle(&["run", "a.ptx", "-g", "2", "-b", "64", "-a", "2000", "--engine", engine, "--quiet"]);
        assert_eq!(many.code, 0);
        let kept = many.out.strip_suffix("\n[the launch printed more than 1048576 bytes; the rest is dropped]\n");
        assert_eq!(kept.unwrap().len(), 1 << 20, "{engine}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_has_to_listen() {
    let folder = Folder::new().with("a.ptx", PRINTS).with("bad.ptx", "x");
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let code = |args: &[&str], out: Stdio, err: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        command.args(args).current_dir(&folder.0).stdout(out).stderr(err).status().unwrap().code()
    };
    let run = ["run", "a.ptx", "-g", "1", "-b", "1", "-a", "2"];
    let lost: [(&[&str], i32, i32); 5] = [
        (&run, 0, 2),
        (&["run", "nothing.ptx"], 2, 2),
        (&["ptx", "check", "bad.ptx"], 1, 1),
        (&["list", "presets"], 0, 2),
        (&["walk"], 2, 2),
    ];
    for (args, without_err, without_out) in lost {
        assert_eq!(code(args, Stdio::null(), full()), Some(without_err), "{args:?}");
        assert_eq!(code(args, full(), Stdio::null()), Some(without_out), "{args:?}");
        assert_eq!(code(args, full(), full()), Some(without_out), "{args:?}");
        let shell = format!("{} {} >&- 2>&-", env!("CARGO_BIN_EXE_raddle"), args.join(" "));
        let closed = Command::new("sh").args(["-c", &shell]).current_dir(&folder.0).status().unwrap();
        assert_eq!(closed.code(), Some(without_err), "{args:?}");
    }
}

#[test]
fn huge_numbers_of_a_machine_are_refused() {
    for (set, message) in [
        ("l2.inbox=4294967295", "`l2.inbox` must be from 1 to 65536, not 4294967295"),
        (
            "l2.sector=8",
            "`l2.sector` is 8, so that a line (`l2.line`), 128, has 16 sectors, more than 8; it must be at least 16",
        ),
    ] {
        let ended = raddle(&root(), &["run", "examples/saxpy.toml", "--set", set]);
        ended.expect(2, "", &format!("error: --set {set}: {message}\n"));
    }
}
