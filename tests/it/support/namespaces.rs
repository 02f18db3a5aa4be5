//! Machines of a story, each in a network namespace of its own on this machine. Between them is the
//! namespace of the story, which forwards, or does not.
//!
//! Nothing in there can reach anything else, and what a story mounts is seen by no one else. Where
//! this user may not make namespaces the story is skipped, loudly, which is a failure for root with
//! `COPYDESK_REQUIRE_ALL=1`.

use std::process::{Child, Command, Stdio};

use super::skip::{say_skipped, skip};

/// Longest life of a namespace, should no one end it.
const LIFE_S: &str = "900";
/// Inside, everything is there that the story needs.
const ALONE: &str =
    "ip link set lo up && echo 1 > /proc/sys/net/ipv4/ip_forward && exec \"$0\" \"$@\"";

/// A machine on which a program runs.
#[derive(Clone, Debug)]
pub struct Host {
    pub address: String,
    /// Process whose namespace it is; `None`: that of the story.
    namespace: Option<u32>,
    /// Variables of the environment of all that runs there.
    environment: Vec<(String, String)>,
}

impl Default for Host {
    /// This machine.
    fn default() -> Self {
        Self { address: "127.0.0.1".to_owned(), namespace: None, environment: Vec::new() }
    }
}

impl Host {
    /// This machine, with these variables in the environment of all that runs there.
    pub fn with(environment: Vec<(String, String)>) -> Self {
        Self { environment, ..Self::default() }
    }

    /// The command as it runs there: with the same number of its process.
    pub fn runs(&self, mut command: Command) -> Command {
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let Some(namespace) = self.namespace else { return command };
        let mut there = Command::new("nsenter");
        there.arg(format!("--net=/proc/{namespace}/ns/net")).arg(command.get_program());
        there.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => there.env(name, value),
                None => there.env_remove(name),
            };
        }
        if let Some(directory) = command.get_current_dir() {
            there.current_dir(directory);
        }
        there.stdout(Stdio::null()).stderr(Stdio::null());
        there
    }
}

/// Tells the ignored story of this name in a namespace of its own.
pub fn in_namespaces(story: &str) {
    let alone = || {
        let mut command = Command::new("unshare");
        command.args(["-nm", "sh", "-c", ALONE]);
        command
    };
    let try_all = "ip link add t0 type veth peer name t1 && ip rule add from 10.77.0.1 blackhole";
    let works = alone().args(["sh", "-c", try_all]).stderr(Stdio::null()).status();
    if !works.is_ok_and(|status| status.success()) {
        let why = "no networks can be made with unshare and ip";
        let is_root = rustix::process::geteuid().is_root();
        return if is_root { skip(story, why) } else { say_skipped(story, why) };
    }
    let output = alone()
        .arg(std::env::current_exe().expect("it runs"))
        .args(["--ignored", "--exact", story, "--nocapture"])
        .output()
        .expect("it can be run");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    let passed = output.status.success() && said.contains("1 passed");
    assert!(passed, "{said}\n{complaints}");
    eprintln!("{complaints}");
}

/// The machines of a story, and the ways between them.
pub struct Namespaces {
    holders: Vec<Child>,
    /// Rules by which packets are dropped.
    cuts: Vec<[String; 2]>,
    slow: Vec<usize>,
}

fn ip(arguments: &[&str]) {
    run("ip", arguments);
}

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().expect("it can be run");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {complaint}");
}

impl Namespaces {
    /// So many machines, each of which reaches all others.
    pub fn start(count: usize) -> (Self, Vec<Host>) {
        let mut namespaces = Self { holders: Vec::new(), cuts: Vec::new(), slow: Vec::new() };
        let hosts = (0..count).map(|number| namespaces.add(number)).collect();
        (namespaces, hosts)
    }

    fn add(&mut self, number: usize) -> Host {
        let holder = Command::new("unshare")
            .args(["-n", "sh", "-c", "echo; exec sleep \"$0\"", LIFE_S])
            .stdout(Stdio::piped())
            .spawn();
        let mut holder = holder.expect("there is `unshare`");
        // It is there once it says something.
        let mut line = String::new();
        let output = holder.stdout.take().expect("stdout is piped");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
        let id = holder.id();
        self.holders.push(holder);
        let (wire, id_text) = (format!("wire{number}"), id.to_string());
        let (gate, address) = (format!("10.77.{number}.1"), format!("10.77.{number}.2"));
        ip(&["link", "add", &wire, "type", "veth", "peer", "name", "eth0", "netns", &id_text]);
        ip(&["addr", "add", &format!("{gate}/24"), "dev", &wire]);
        ip(&["link", "set", &wire, "up"]);
        let inside = format!(
            "ip link set lo up && ip addr add {address}/24 dev eth0 && ip link set eth0 up
             && ip route add default via {gate}"
        )
        .replace('\n', " ");
        run("nsenter", &[&format!("--net=/proc/{id}/ns/net"), "sh", "-c", &inside]);
        Host { address, namespace: Some(id), environment: Vec::new() }
    }

    /// No packet gets from one to the other any more, nor back.
    pub fn cut(&mut self, one: &Host, other: &Host) {
        self.cut_one_way(one, other);
        self.cut_one_way(other, one);
    }

    /// No packet gets from here to there any more, but back.
    pub fn cut_one_way(&mut self, from: &Host, to: &Host) {
        let cut = [from.address.clone(), to.address.clone()];
        ip(&["rule", "add", "from", &cut[0], "to", &cut[1], "blackhole"]);
        self.cuts.push(cut);
    }

    /// Everything to a machine takes long: by 300 ms, or where the kernel cannot do that, as long
    /// as 256 kbit/s take.
    pub fn slow(&mut self, number: usize) -> &'static str {
        let wire = format!("wire{number}");
        let add = ["qdisc", "add", "dev", &wire, "root"];
        let late = ["netem", "delay", "300ms", "50ms"];
        let narrow = ["tbf", "rate", "256kbit", "burst", "4kb", "latency", "2s"];
        self.slow.push(number);
        let tried = Command::new("tc").args(add).args(late).stderr(Stdio::null()).status();
        if tried.expect("there is `tc`").success() {
            return "late";
        }
        run("tc", &[&add[..], &narrow[..]].concat());
        "narrow"
    }

    /// All ways are as they were.
    pub fn heal(&mut self) {
        for [from, to] in self.cuts.drain(..) {
            ip(&["rule", "del", "from", &from, "to", &to, "blackhole"]);
        }
        for number in self.slow.drain(..) {
            run("tc", &["qdisc", "del", "dev", &format!("wire{number}"), "root"]);
        }
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for holder in &mut self.holders {
            holder.kill().ok();
            holder.wait().ok();
        }
    }
}
