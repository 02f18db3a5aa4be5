//! The Claude CLI as a model: its own login and subscription, our tools, our gate.
//!
//! The CLI runs its own loop of asking the model and calling tools. Here that loop is cut into answers: where the model
//! calls tools, the answer is complete, the CLI waits ([`door`]), and the run passes the calls through the gate as it does
//! for every model. The next call of [`Model::stream`] tells the CLI what came of them and hears it on. So a run of the
//! CLI is a run like any other: kept, shown, decided, cancelled and taken up by the same code. If the process is gone by
//! then, because the server was restarted or the CLI gave up, a new one resumes the conversation and is told in words.

mod door;
mod grammar;
mod link;
mod process;
mod words;

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::stream::BoxStream;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::processes::{Mark, stop_marked};
use crate::wire::messages::ContentBlock;

use super::answer::{self, Outlet};
use super::{AssistantMessage, Delta, Model, ModelError, Request, Thread};
use door::Told;
use grammar::{Hearing, Line, Lines, Step, Stop, failed};
use process::{Folder, Process, Way};

pub use link::connect;
pub use process::may_see;

/// The name of the model.
pub const NAME: &str = "claude-cli";
/// Marks every process of every CLI that a server has started.
const OF_SERVER: &str = "COPYDESK_CLI_OF";
/// The folder it works in.
const EMPTY: &str = "empty";
/// How long a CLI that is done may take to leave: it writes down the conversation.
const LEAVE: Duration = Duration::from_secs(5);
/// Processes of the CLI at once, for all people together: each takes a few hundred megabytes.
const PROCESSES: usize = 8;
/// Bytes of a socket's path that every system allows.
const LONGEST_SOCKET: usize = 100;

/// What the CLI needs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The CLI.
    pub program: OsString,
    /// This program, which the CLI starts to reach its tools.
    pub link: PathBuf,
    /// The environment of the CLI, of which only what [`may_see`] allows is to be here.
    pub environment: Vec<(OsString, OsString)>,
    /// Where its folders are made, and nothing else is; made if it is not there.
    pub folder: PathBuf,
}

impl Settings {
    /// What all its processes are marked with.
    fn mark(&self) -> Mark {
        Mark { name: OF_SERVER, value: self.folder.to_string_lossy().into_owned() }
    }

    /// The folder the CLI works in, always empty: a file in it that a text mentions as `@name` would be read to the model.
    /// The same each time, because the CLI remembers its conversations by folder.
    fn empty(&self) -> PathBuf {
        self.folder.join(EMPTY)
    }

    /// Prepares the folders, and ends and removes what an earlier process of this server has left.
    fn prepare(&mut self) -> std::io::Result<()> {
        use std::os::unix::fs::DirBuilderExt as _;
        let mut private = std::fs::DirBuilder::new();
        private.recursive(true).mode(0o700);
        private.create(&self.folder)?;
        self.folder = self.folder.canonicalize()?;
        stop_marked(&self.mark());
        for left in std::fs::read_dir(&self.folder)?.flatten() {
            std::fs::remove_dir_all(left.path()).ok();
        }
        private.create(self.empty())
    }
}

/// The Claude CLI.
pub struct Claude {
    name: String,
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    /// The model that is used if a request names none.
    model: String,
    /// Those that wait for tools, by run.
    waiting: Mutex<HashMap<String, Talk>>,
    /// For so many there is a place.
    places: Arc<Semaphore>,
    /// Runs that wait for one.
    wanting: AtomicUsize,
}

/// A CLI that is at work or waits for tools.
struct Talk {
    process: Process,
    lines: Lines,
    /// Lines that came after the end of an answer.
    ahead: VecDeque<Result<Line, ModelError>>,
    hearing: Hearing,
    told: Told,
    /// Since when it does.
    since: Instant,
    /// Its door, and what feeds it; they end with it.
    _tasks: JoinSet<()>,
    _place: OwnedSemaphorePermit,
}

impl Claude {
    /// Prepares everything; nothing runs yet. `model` is what the CLI is told to use, if not its own default.
    pub fn new(mut settings: Settings, model: Option<&str>) -> std::io::Result<Self> {
        settings.prepare()?;
        let name = model.map_or_else(|| NAME.to_owned(), |model| format!("{NAME}:{model}"));
        let model = model.unwrap_or_default().to_owned();
        let shared = Shared {
            settings,
            model,
            waiting: Mutex::default(),
            places: Arc::new(Semaphore::new(PROCESSES)),
            wanting: AtomicUsize::new(0),
        };
        Ok(Self { name, shared: Arc::new(shared) })
    }
}

impl Model for Claude {
    fn name(&self) -> &str {
        &self.name
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        let shared = Arc::clone(&self.shared);
        answer::answer(cancel, |outlet| async move { shared.answer(request, &outlet).await })
    }

    fn keeps_threads(&self) -> bool {
        true
    }

    fn over(&self, run: &str) {
        self.shared.waiting().remove(run);
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Talk>> {
        // The map is consistent between any two statements.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(
        &self,
        mut request: Request,
        outlet: &Outlet,
    ) -> Result<AssistantMessage, ModelError> {
        if request.model.is_empty() {
            request.model.clone_from(&self.model);
        }
        let waiting = self.waiting().remove(&request.run);
        if let Some(mut talk) = waiting
            && talk.process.is_there()
            && talk.told.is_waited_for()
        {
            talk.told.answer(&request);
            return match talk.hear(outlet).await {
                Ok(answer) => Ok(self.keep(request.run, talk, answer).await),
                Err(Stop::Failed(error)) => Err(error),
                Err(Stop::Thread) => Err(failed("The Claude CLI lost the conversation")),
            };
        }
        for way in ways(request.thread.as_ref()) {
            let place = self.place().await?;
            let mut talk = Talk::begin(&self.settings, &request, *way, place)?;
            match talk.hear(outlet).await {
                Ok(answer) => return Ok(self.keep(request.run, talk, answer).await),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Thread) => {}
            }
        }
        Err(failed("The Claude CLI neither knows the conversation nor begins it"))
    }

    /// A place for one more process. People may take days to decide; so where there is none, the process that waits the
    /// longest goes, and a new one will be told what they decided. If all are at work, the first that is not goes.
    async fn place(&self) -> Result<OwnedSemaphorePermit, ModelError> {
        let _wanted = Wanted::by(&self.wanting);
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        self.end_one();
        let place = Arc::clone(&self.places).acquire_owned().await;
        place.map_err(|_| failed("The Claude CLI is not started any more"))
    }

    /// Ends the process that has waited for tools the longest.
    fn end_one(&self) {
        let mut waiting = self.waiting();
        let oldest = waiting.iter().min_by_key(|(_, talk)| talk.since).map(|(run, _)| run.clone());
        let ended = oldest.and_then(|run| waiting.remove(&run));
        drop(waiting);
        drop(ended);
    }

    /// A CLI that waits for tools is kept until they are answered, unless somebody needs its place.
    async fn keep(
        &self,
        run: String,
        mut talk: Talk,
        answer: AssistantMessage,
    ) -> AssistantMessage {
        let is_call = |block: &ContentBlock| matches!(block, ContentBlock::ToolUse { .. });
        if answer.content.iter().any(is_call) {
            talk.told.announce(&answer.content);
            talk.since = Instant::now();
            self.waiting().insert(run, talk);
            if self.wanting.load(Ordering::SeqCst) > 0 {
                self.end_one();
            }
        } else if timeout(LEAVE, talk.process.leave()).await.is_err() {
            tracing::warn!("the Claude CLI did not end by itself");
        }
        answer
    }
}

/// Counts somebody who waits for a place, until it is dropped.
struct Wanted<'a>(&'a AtomicUsize);

impl<'a> Wanted<'a> {
    fn by(wanting: &'a AtomicUsize) -> Self {
        wanting.fetch_add(1, Ordering::SeqCst);
        Self(wanting)
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How to begin, and how else if the CLI sees it differently: a crash may have come before it kept anything, or before we
/// did, it forgets what is old, and it may have kept the name of a conversation without a word of it.
fn ways(thread: Option<&Thread>) -> &'static [Way] {
    match thread {
        Some(Thread { begun: true, .. }) => &[Way::Resume, Way::Begin, Way::Anew],
        Some(Thread { from: Some(_), .. }) => &[Way::Fork, Way::Resume, Way::Begin, Way::Anew],
        _ => &[Way::Begin, Way::Resume, Way::Anew],
    }
}

impl Talk {
    fn begin(
        settings: &Settings,
        request: &Request,
        way: Way,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, ModelError> {
        let broken = |error: std::io::Error| {
            failed(&format!("The tools of the Claude CLI cannot be offered: {error}"))
        };
        let mut folder = Folder::make(&settings.folder).map_err(broken)?;
        if folder.socket().as_os_str().len() > LONGEST_SOCKET {
            folder = Folder::make(Path::new("/tmp")).map_err(broken)?;
        }
        let secret = uuid::Uuid::new_v4().simple().to_string();
        let listener = UnixListener::bind(folder.socket()).map_err(broken)?;
        folder.configure(&settings.link, &secret).map_err(broken)?;
        let (told, mut tasks) = (Told::default(), JoinSet::new());
        tasks.spawn(door::open(listener, secret, request.tools.clone(), told.clone()));
        let process = Process::start(settings, request, way, folder, &mut tasks)?;
        let (lines, hearing) = (Lines::default(), Hearing::default());
        let (ahead, since) = (VecDeque::new(), Instant::now());
        Ok(Self { process, lines, ahead, hearing, told, since, _tasks: tasks, _place: place })
    }

    /// Hears the CLI until its answer is complete.
    async fn hear(&mut self, outlet: &Outlet) -> Result<AssistantMessage, Stop> {
        let mut piece = vec![0; 64 * 1024];
        loop {
            while let Some(line) = self.ahead.pop_front() {
                let heard = self.hearing.hear(line?);
                let (model, usage) = self.hearing.used();
                outlet.uses(model, usage);
                match heard? {
                    Some(Step::Tell(delta)) => outlet.send(delta).await,
                    Some(Step::Again(said)) => {
                        outlet.take_back().await;
                        if !said.is_empty() {
                            outlet.send(Delta::Text(said)).await;
                        }
                    }
                    Some(Step::Done(answer)) => return Ok(answer),
                    None => {}
                }
            }
            let count = self.process.output.read(&mut piece).await.unwrap_or(0);
            if count == 0 {
                let code = self.process.ended().await;
                return Err(grammar::ended_without_result(code, &self.process.complaints()));
            }
            self.ahead.extend(self.lines.feed(&piece[..count]));
        }
    }
}

impl std::fmt::Debug for Claude {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claude").field("name", &self.name).finish_non_exhaustive()
    }
}
