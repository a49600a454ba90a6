//! Experiments over a real Slurm: a controller and two nodes on this machine, on loopback, with everything they write
//! in `slurm` beside this program. It takes no rights that a user does not have.
//!
//! Workers are killed, a task is cancelled, a node drained, the submitting process interrupted; in the end the report
//! must be that of a local run, to the byte.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::Result;
use crate::files::run_cargo;

/// 144 points, in eight tasks.
const SWEEP: &str = r#"title = "Over Slurm"
workloads = ["spmv", "scalar-prod", "walsh", "bfs"]
size = "tiny"

[repeats]
count = 12
vary = ["seed", "dispatch", "heap"]

[[axis]]
name = "scheduler"
key = "mechanism.issue"
values = ["lrr", "gto", "two-level"]

[[figure]]
name = "speedup"
title = "Speedup"
metric = "cycles"
against = "speedup"
bars = "scheduler"
"#;

/// Two points that cannot run.
const WRONG: &str = r#"title = "Too few registers"
workloads = ["spmv"]
size = "tiny"
set = ["sm.registers=64"]

[[axis]]
name = "scheduler"
key = "mechanism.issue"
values = ["lrr", "gto"]
"#;

/// No wait takes longer.
const LONGEST: Duration = Duration::from_secs(90);

/// Runs everything.
pub fn run() -> Result {
    run_cargo(&["build", "--locked", "--package", "raddle-cli"])?;
    let own = std::env::current_exe()?;
    let beside = own.parent().ok_or("this program is in no folder")?;
    let cluster = Cluster::start(&beside.join("slurm"), beside.join("raddle"))?;
    let result = cluster
        .disturbed()
        .and_then(|()| cluster.unfit())
        .and_then(|()| cluster.lost())
        .and_then(|()| cluster.refused());
    if result.is_err() {
        println!("what Slurm and the commands said is in {}", cluster.folder.display());
    }
    result
}

/// A process that ends with its owner.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let help = "install the Debian packages slurmctld, slurmd, slurm-client and munge";
        Ok(Self(command.stdin(Stdio::null()).spawn().map_err(|error| format!("cannot run `{name}`: {error}; {help}"))?))
    }

    /// Waits for its end.
    fn end(&mut self) -> Result<ExitStatus> {
        let mut status = None;
        wait("the end of a command", || {
            status = self.0.try_wait()?;
            Ok(status.is_some())
        })?;
        Ok(status.ok_or("it has not ended")?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait(what: &str, mut is_there: impl FnMut() -> Result<bool>) -> Result {
    let start = Instant::now();
    while start.elapsed() < LONGEST {
        if is_there()? {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(format!("waited for {what} in vain").into())
}

fn check(holds: bool, what: &str) -> Result {
    if holds { Ok(()) } else { Err(what.to_owned().into()) }
}

/// Slurm with two nodes.
struct Cluster {
    folder: PathBuf,
    raddle: PathBuf,
    /// In the order in which they end: nodes, controller, `munged`.
    daemons: Vec<Process>,
}

impl Cluster {
    fn start(folder: &Path, raddle: PathBuf) -> Result<Self> {
        let _ = fs::remove_dir_all(folder);
        for name in ["state", "spool", "log"] {
            fs::create_dir_all(folder.join(name))?;
        }
        fs::write(folder.join("sweep.toml"), SWEEP)?;
        fs::write(folder.join("wrong.toml"), WRONG)?;
        let mut cluster = Self { folder: folder.to_owned(), raddle, daemons: Vec::new() };
        fs::write(folder.join("slurm.conf"), cluster.configuration()?)?;

        let key = folder.join("munge.key");
        fs::write(&key, [b'r'; 128])?;
        let mut chmod = Command::new("chmod");
        check(chmod.arg("600").arg(&key).status()?.success(), "`chmod` failed")?;
        let mut munged = cluster.command("munged", "munged")?;
        munged.args(["--foreground", "--force", "--socket=munge.socket", "--key-file=munge.key"]);
        munged.args(["--log-file=log/munge.log", "--pid-file=munge.pid", "--seed-file=munge.seed"]);
        cluster.daemon(&mut munged)?;
        wait("munged", || Ok(folder.join("munge.socket").exists()))?;
        let mut controller = cluster.command("slurmctld", "slurmctld")?;
        cluster.daemon(controller.args(["-D", "-c"]))?;
        for node in ["n1", "n2"] {
            let mut slurmd = cluster.command("slurmd", node)?;
            cluster.daemon(slurmd.args(["-D", "-N", node]))?;
        }
        let states = || cluster.ask("sinfo", &["-h", "-N", "-o", "%N %T"]);
        wait("two idle nodes", || Ok(states().is_ok_and(|states| states == "n1 idle\nn2 idle\n")))?;
        Ok(cluster)
    }

    fn daemon(&mut self, command: &mut Command) -> Result {
        self.daemons.insert(0, Process::start(command)?);
        Ok(())
    }

    fn configuration(&self) -> Result<String> {
        // All of them open at once, so that they differ.
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
        let mut ports = Vec::new();
        for listener in &listeners {
            ports.push(listener.as_ref().map_err(ToString::to_string)?.local_addr()?.port());
        }
        let [controller, first, second] = ports[..] else { return Err("no ports".into()) };
        let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
        let (host, user) = (host.trim(), String::from_utf8(Command::new("id").arg("-un").output()?.stdout)?);
        let (folder, user) = (self.folder.display(), user.trim());
        let node = format!("NodeHostname={host} NodeAddr=127.0.0.1 CPUs=1 RealMemory=1000 State=UNKNOWN");
        Ok(format!(
            "ClusterName=loopback\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\n\
             SlurmUser={user}\nSlurmdUser={user}\nAuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\n\
             CredType=cred/munge\nCommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool/%n\n\
             SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd.%n.pid\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\n\
             ReturnToService=2\nKillWait=2\nMaxArraySize=6\nMaxJobCount=40\n\
             SchedulerParameters=batch_sched_delay=0,sched_min_interval=1000,sched_max_job_start=0,bf_interval=1\n\
             NodeName=n1 Port={first} {node}\nNodeName=n2 Port={second} {node}\n\
             PartitionName=sim Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP\n"
        ))
    }

    /// A command in our folder, which talks to our Slurm; what it says goes to a file.
    fn command(&self, program: &str, log: &str) -> Result<Command> {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command.current_dir(&self.folder).env("SLURM_CONF", self.folder.join("slurm.conf"));
        command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
        let log = File::create(self.log(log))?;
        command.stdout(log.try_clone()?).stderr(log);
        Ok(command)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join("log").join(format!("{name}.log"))
    }

    /// What a command of Slurm prints.
    fn ask(&self, program: &str, args: &[&str]) -> Result<String> {
        let output = self.command(program, "ask")?.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok(String::from_utf8(output.stdout)?)
        } else {
            Err(format!("`{program} {}`: {text}", args.join(" ")).into())
        }
    }

    /// Starts `raddle`; what it says goes to the file `log`.
    fn raddle(&self, log: &str, args: &[&str]) -> Result<Process> {
        let program = self.raddle.to_string_lossy().into_owned();
        println!("{log}: raddle {}", args.join(" "));
        Process::start(self.command(&program, log)?.args(args))
    }

    /// What `raddle` says and its exit code.
    fn ended(&self, log: &str, args: &[&str]) -> Result<(Option<i32>, String)> {
        let status = self.raddle(log, args)?.end()?;
        let said = fs::read_to_string(self.log(log))?;
        print!("{said}");
        Ok((status.code(), said))
    }

    fn wait_for_text(&self, log: &str, text: &str) -> Result {
        let path = self.log(log);
        wait(&format!("`{text}` in {}", path.display()), || Ok(fs::read_to_string(&path)?.contains(text)))
    }

    /// The ids of the processes of our tasks.
    fn workers(&self) -> Result<Vec<String>> {
        let folder = self.folder.to_string_lossy();
        let mut workers = Vec::new();
        for process in fs::read_dir("/proc")? {
            let process = process?;
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            if line.contains("\0worker\0") && line.contains(&*folder) {
                workers.push(process.file_name().to_string_lossy().into_owned());
            }
        }
        Ok(workers)
    }

    fn running(&self) -> Result<Vec<String>> {
        let list = self.ask("squeue", &["-h", "-r", "-t", "RUNNING", "-o", "%i"])?;
        Ok(list.lines().map(str::to_owned).collect())
    }

    /// A sweep in which all sorts of things happen ends like one in which nothing does.
    fn disturbed(&self) -> Result {
        let (code, _) = self.ended("calm", &["lab", "run", "sweep.toml", "--store", "calm"])?;
        check(code == Some(0), "the local run failed")?;
        let args = ["lab", "run", "sweep.toml", "--store", "over", "--slurm", "--points-per-task", "18"];

        let mut first = self.raddle("first", &args)?;
        wait("two workers", || Ok(self.workers()?.len() == 2))?;
        let workers = self.workers()?;
        let worker = workers.first().ok_or("the workers have ended")?;
        println!("killing worker {worker} and draining a node");
        check(Command::new("kill").args(["-9", worker]).status()?.success(), "no worker could be killed")?;
        self.ask("scontrol", &["update", "nodename=n1", "state=drain", "reason=test"])?;
        self.wait_for_text("first", "1 task was lost")?;
        // Worse than Ctrl-C: it can do nothing about it.
        println!("killing the submitting process");
        first.0.kill()?;
        check(first.end()?.code().is_none(), "the submitting process had ended")?;

        wait("a running task", || Ok(!self.running()?.is_empty()))?;
        let mut second = self.raddle("second", &args)?;
        self.wait_for_text("second", "of an earlier run found in the queue and taken over")?;
        // One that has just begun: another might end by itself before it is cancelled.
        let (older, mut newer) = (self.running()?, None);
        wait("another running task", || {
            newer = self.running()?.into_iter().find(|task| !older.contains(task));
            Ok(newer.is_some())
        })?;
        let task = newer.ok_or("the tasks have ended")?;
        println!("cancelling task {task}");
        self.ask("scancel", &[&task])?;
        self.wait_for_text("second", "1 task was lost")?;
        let nodes = self.ask("sinfo", &["-h", "-N", "-o", "%N %T"])?;
        check(nodes.contains("n1 drain"), "the node was not drained")?;
        self.ask("scontrol", &["update", "nodename=n1", "state=resume"])?;
        let status = second.end()?;
        let said = fs::read_to_string(self.log("second"))?;
        print!("{said}");
        check(status.success() && said.contains("144 points: "), "the run over Slurm failed")?;
        check(!self.folder.join("over/slurm").exists(), "lists and logs were left behind")?;
        let (calm, over) = (self.report("calm")?, self.report("over")?);
        check(calm.len() > 3 && calm == over, "the report is not that of a local run")?;
        let same = self.ended("diff", &["lab", "diff", "calm", "over"])?;
        check(same.0 == Some(0) && same.1.starts_with("144 points in both, 0 only"), "the stores differ")
    }

    /// The files of the report from a store.
    fn report(&self, store: &str) -> Result<Vec<(PathBuf, Vec<u8>)>> {
        let output = format!("report-{store}");
        let (code, _) =
            self.ended("report", &["lab", "report", "sweep.toml", "--store", store, "--output", &output])?;
        check(code == Some(0), "no report could be made")?;
        let mut files = Vec::new();
        for file in fs::read_dir(self.folder.join(&output))? {
            let file = file?;
            files.push((file.file_name().into(), fs::read(file.path())?));
        }
        files.sort();
        Ok(files)
    }

    /// Points that a machine refuses are run once.
    fn unfit(&self) -> Result {
        let (code, said) = self.ended("unfit", &["lab", "run", "wrong.toml", "--store", "unfit", "--slurm"])?;
        check(code == Some(0), "points that a machine refuses are failures")?;
        check(said.contains("2 points: 0 known, 0 run") && said.contains(", 2 refused"), "refusals are not counted")?;
        check(said.contains("refused: ") && said.contains("registers"), "the reason of a refusal is not told")
    }

    /// Tasks that come to nothing are tried so often and no more.
    fn lost(&self) -> Result {
        let wrap = "--sbatch=--wrap=echo this node is broken; exit 3";
        let args = ["lab", "run", "wrong.toml", "--store", "lost", "--slurm", "--attempts", "2", wrap];
        let (code, said) = self.ended("lost", &args)?;
        check(code == Some(1), "tasks that do nothing did something")?;
        let ends = "its task ended with `this node is broken`, see ";
        check(said.matches(ends).count() == 2, "the log of a lost task is not named")?;
        check(said.contains("1 task was lost") && said.contains("2 tasks were lost"), "there were not two attempts")
    }

    /// What `sbatch` refuses is an error of the user.
    fn refused(&self) -> Result {
        let args = ["lab", "run", "wrong.toml", "--store", "refused", "--slurm", "--partition", "nope"];
        let (code, said) = self.ended("refused", &args)?;
        check(code == Some(2), "a partition that does not exist was accepted")?;
        check(said.contains("sbatch: error: invalid partition specified: nope"), "the words of sbatch are lost")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Tasks first: they would outlive the nodes.
        let _ = self.ask("scancel", &["--me"]);
        let _ = wait("an empty queue", || Ok(self.ask("squeue", &["-h"]).map_or(true, |queue| queue.is_empty())));
    }
}
