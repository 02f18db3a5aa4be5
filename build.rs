//! Builds the editor that the binary carries: `npm ci` and the Vite build, when its sources changed, outside the source tree.
//!
//! Debug and release builds share one folder, `target/copydesk-web`, so that `cargo test` after `cargo run --release` builds nothing
//! again. Where it cannot be built, the editor that a source archive of a release holds is used, see `build/web_sources.rs`. Without
//! that the server is built all the same and serves a page that says how to get the editor. Nothing but `npm ci` downloads.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use web_sources::{DIST, SOURCES, SUMS, archived_editor, files};

#[path = "build/web_sources.rs"]
mod web_sources;

/// Files that decide which packages are installed.
const PACKAGES: [&str; 2] = ["package.json", "package-lock.json"];
/// Lines of npm's or Vite's complaint that are shown.
const COMPLAINT_LINES: usize = 25;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build/web_sources.rs");
    println!("cargo:rerun-if-env-changed=COPYDESK_WEB_DIST");
    for source in SOURCES {
        println!("cargo:rerun-if-changed=web/{source}");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let (dist, modules) = match std::env::var_os("COPYDESK_WEB_DIST").filter(|dir| !dir.is_empty())
    {
        Some(dir) => prebuilt(&PathBuf::from(dir)),
        None => built(&out),
    };
    println!("cargo:rustc-env=COPYDESK_WEB_DIST={}", dist.display());
    println!("cargo:rustc-env=COPYDESK_WEB_MODULES={}", modules.display());
    if let Err(error) = write_table(&dist, &out.join("editor_files.rs")) {
        println!("cargo:error=cannot list the editor's files in {}: {error}", dist.display());
    }
}

/// A bundle that someone built before.
fn prebuilt(dir: &Path) -> (PathBuf, PathBuf) {
    println!("cargo:rerun-if-changed={}", dir.display());
    println!("cargo:warning=using the editor from COPYDESK_WEB_DIST={}", dir.display());
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    (dir, Path::new("web/node_modules").canonicalize().unwrap_or_default())
}

/// The bundle of this source tree, built if it is missing or older than its sources.
fn built(out: &Path) -> (PathBuf, PathBuf) {
    let yard = yard(out);
    let modules = yard.join("node_modules");
    match bring_up_to_date(&yard) {
        Ok(()) => (yard.join("dist"), modules),
        Err(complaint) => (archived_or_explained(out, &yard, &complaint), modules),
    }
}

/// The editor of a source archive, or the page in its place.
fn archived_or_explained(out: &Path, yard: &Path, complaint: &str) -> PathBuf {
    let reason = match archived_editor(Path::new("web")) {
        Ok(dist) => {
            println!("cargo:rerun-if-changed=web/{DIST}");
            println!("cargo:rerun-if-changed=web/{SUMS}");
            println!("cargo:warning=using web/{DIST}, which this source archive holds");
            return dist.canonicalize().unwrap_or(dist);
        }
        Err(reason) => reason,
    };
    println!(
        "cargo:warning=the editor could not be built; the server will serve a page that says why"
    );
    let complaint = format!("{complaint}\n{reason}");
    for line in complaint.lines() {
        println!("cargo:warning=  {line}");
    }
    // A file that does not exist makes cargo try again next time.
    println!("cargo:rerun-if-changed={}", yard.join("try-again").display());
    explain(&out.join("no-editor"), &complaint)
}

/// `target/copydesk-web`, seen from `target/PROFILE/build/copydesk-HASH/out`.
fn yard(out: &Path) -> PathBuf {
    let build = out.ancestors().find(|dir| dir.file_name().is_some_and(|name| name == "build"));
    let target = build.and_then(Path::parent).and_then(Path::parent).unwrap_or(out);
    target.join("copydesk-web")
}

fn bring_up_to_date(yard: &Path) -> Result<(), String> {
    let told = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let web = Path::new("web");
    let wanted = fingerprint(web, &SOURCES).map_err(told("cannot read web/"))?;
    fs::create_dir_all(yard).map_err(told("cannot make target/copydesk-web"))?;
    let lock = File::create(yard.join("lock")).map_err(told("cannot lock target/copydesk-web"))?;
    // Two cargo commands may be at it at the same time.
    lock.lock().map_err(told("cannot lock target/copydesk-web"))?;
    let stamp = yard.join("dist.stamp");
    if is_stamped(&stamp, &wanted) && yard.join("dist/index.html").is_file() {
        return Ok(());
    }
    copy_sources(web, yard).map_err(told("cannot copy web/"))?;
    install(yard)?;
    let vite = yard.join("node_modules/vite/bin/vite.js");
    run(Command::new("node")
        .arg(vite)
        .args(["build", "--outDir", "dist", "--emptyOutDir"])
        .current_dir(yard))?;
    println!("cargo:warning=built the editor with Vite into {}", yard.join("dist").display());
    fs::write(stamp, wanted).map_err(told("cannot note what was built"))
}

/// Packages are installed again only when their list changed.
fn install(yard: &Path) -> Result<(), String> {
    let stamp = yard.join("node_modules.stamp");
    let wanted = fingerprint(yard, &PACKAGES).map_err(|error| error.to_string())?;
    if is_stamped(&stamp, &wanted) && yard.join("node_modules").is_dir() {
        return Ok(());
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    run(Command::new(npm)
        .args(["ci", "--include=dev", "--no-audit", "--no-fund"])
        .current_dir(yard))?;
    println!("cargo:warning=installed the editor's packages with `npm ci` in {}", yard.display());
    fs::write(stamp, wanted).map_err(|error| error.to_string())
}

fn is_stamped(stamp: &Path, wanted: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|found| found == wanted)
}

/// Runs a command; if it fails, the last lines of what it said.
fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done =
        command.output().map_err(|error| format!("`{name}` could not be started: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(COMPLAINT_LINES)..];
    Err(format!("`{name}` failed ({}):\n{}", done.status, last.join("\n")))
}

/// Changes when any name or content does.
fn fingerprint(root: &Path, sources: &[&str]) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    for file in files(root, sources)? {
        hasher.write(file.to_string_lossy().as_bytes());
        hasher.write(&fs::read(root.join(&file))?);
        hasher.write_u8(0xff);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn copy_sources(web: &Path, yard: &Path) -> io::Result<()> {
    for dir in ["src", "public"] {
        // What was deleted from the sources must not live on in the copy.
        match fs::remove_dir_all(yard.join(dir)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    for file in files(web, &SOURCES)? {
        let to = yard.join(&file);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(web.join(&file), to)?;
    }
    Ok(())
}

/// A page in the editor's place.
fn explain(dir: &Path, complaint: &str) -> PathBuf {
    let complaint = complaint.replace('&', "&amp;").replace('<', "&lt;");
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Copydesk without its editor</title>\n\
         <style>body{{font:16px/1.6 system-ui,sans-serif;max-width:40em;margin:4em auto;padding:0 1em}}pre{{white-space:pre-wrap;background:#f6f4ef;padding:1em}}</style>\n\
         <h1>The server runs, but this binary carries no editor</h1>\n\
         <p>The editor is built with Node.js 20.19 or newer and npm, which were not usable when this binary was built. \
         Install them and run <code>cargo build</code> again, build from the source archive of a release, which holds the built editor, \
         or build with <code>COPYDESK_WEB_DIST=DIR</code> naming a folder that holds one.</p>\n\
         <p>Everything else works: socket.io, HTTP, and the command line.</p>\n\
         <h2>What went wrong</h2>\n<pre>{complaint}</pre>\n</html>\n"
    );
    let written = fs::create_dir_all(dir).and_then(|()| fs::write(dir.join("index.html"), page));
    if let Err(error) = written {
        println!("cargo:error=cannot write {}: {error}", dir.display());
    }
    dir.to_owned()
}

/// The table that `http/assets.rs` includes: path, content, content hash.
fn write_table(dist: &Path, table: &Path) -> io::Result<()> {
    let mut rows = Vec::new();
    for file in files(dist, &["."])? {
        let path = dist.join(&file).canonicalize()?;
        let place = path.to_string_lossy();
        let mut hasher = DefaultHasher::new();
        hasher.write(&fs::read(&path)?);
        let name = file.strip_prefix(".").unwrap_or(&file).to_string_lossy().replace('\\', "/");
        rows.push(format!(
            "({name:?}, include_bytes!({place:?}), \"{:016x}\"),\n",
            hasher.finish()
        ));
    }
    rows.sort();
    fs::write(table, format!("&[\n{}]\n", rows.concat()))
}
