//! The Claude CLI as a model: its own login and subscription, our tools, our gate.
//!
//! The CLI runs its own loop of asking the model and calling tools. Here that loop is cut into answers: where the model
//! calls tools, the answer is complete, the CLI waits ([`tool_server`]), and the run passes the calls through the gate as it does
//! for every model. The next call of [`Model::stream`] tells the CLI what came of them and hears it on. So a run of the
//! CLI is a run like any other: kept, shown, decided, cancelled and taken up by the same code. If the process is gone by
//! then, because the server was restarted or the CLI gave up, a new one resumes the conversation and is told in words.

mod process;
mod stdin;
mod stdio_shim;
mod stdout_parser;
mod tool_server;

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

use crate::llm::messages_api::ContentBlock;
use crate::processes::{EnvironmentTag, stop_marked};

use super::delta_stream::{self, DeltaSink};
use super::{AnswerDelta, AssistantMessage, Model, ModelError, ModelRequest, ModelThread};
use process::{CliProcess, CliStart, PrivateFolder};
use stdout_parser::{AnswerParser, CliLine, LineBuffer, LineOutcome, NoAnswerReason, failed};
use tool_server::ToolServer;

pub use process::may_see;
pub use stdio_shim::connect;

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
pub struct ClaudeCliSettings {
    /// The CLI.
    pub program: OsString,
    /// This program, which the CLI starts to reach its tools.
    pub link: PathBuf,
    /// The environment of the CLI, of which only what [`may_see`] allows is to be here.
    pub environment: Vec<(OsString, OsString)>,
    /// Where its folders are made, and nothing else is; made if it is not there.
    pub folder: PathBuf,
}

impl ClaudeCliSettings {
    /// What all its processes are marked with.
    fn mark(&self) -> EnvironmentTag {
        EnvironmentTag { name: OF_SERVER, value: self.folder.to_string_lossy().into_owned() }
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
pub struct ClaudeCliModel {
    name: String,
    shared: Arc<ClaudeCliShared>,
}

struct ClaudeCliShared {
    settings: ClaudeCliSettings,
    /// The model that is used if a request names none.
    model: String,
    /// Those that wait for tools, by run.
    waiting: Mutex<HashMap<String, CliConversation>>,
    /// For so many there is a place.
    places: Arc<Semaphore>,
    /// Runs that wait for one.
    wanting: AtomicUsize,
}

/// A CLI that is at work or waits for tools.
struct CliConversation {
    process: CliProcess,
    lines: LineBuffer,
    /// Lines that came after the end of an answer.
    ahead: VecDeque<Result<CliLine, ModelError>>,
    hearing: AnswerParser,
    told: ToolServer,
    /// Since when it does.
    since: Instant,
    /// Its door, and what feeds it; they end with it.
    _tasks: JoinSet<()>,
    _place: OwnedSemaphorePermit,
}

impl ClaudeCliModel {
    /// Prepares everything; nothing runs yet. `model` is what the CLI is told to use, if not its own default.
    pub fn new(mut settings: ClaudeCliSettings, model: Option<&str>) -> std::io::Result<Self> {
        settings.prepare()?;
        let name = model.map_or_else(|| NAME.to_owned(), |model| format!("{NAME}:{model}"));
        let model = model.unwrap_or_default().to_owned();
        let shared = ClaudeCliShared {
            settings,
            model,
            waiting: Mutex::default(),
            places: Arc::new(Semaphore::new(PROCESSES)),
            wanting: AtomicUsize::new(0),
        };
        Ok(Self { name, shared: Arc::new(shared) })
    }
}

impl Model for ClaudeCliModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<AnswerDelta, ModelError>> {
        let shared = Arc::clone(&self.shared);
        delta_stream::answer(cancel, |outlet| async move { shared.answer(request, &outlet).await })
    }

    fn keeps_threads(&self) -> bool {
        true
    }

    fn over(&self, run: &str) {
        self.shared.waiting().remove(run);
    }
}

impl ClaudeCliShared {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, CliConversation>> {
        // The map is consistent between any two statements.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(
        &self,
        mut request: ModelRequest,
        outlet: &DeltaSink,
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
                Err(NoAnswerReason::Failed(error)) => Err(error),
                Err(NoAnswerReason::Thread) => Err(failed("The Claude CLI lost the conversation")),
            };
        }
        for way in ways(request.thread.as_ref()) {
            let place = self.place().await?;
            let mut talk = CliConversation::begin(&self.settings, &request, *way, place)?;
            match talk.hear(outlet).await {
                Ok(answer) => return Ok(self.keep(request.run, talk, answer).await),
                Err(NoAnswerReason::Failed(error)) => return Err(error),
                Err(NoAnswerReason::Thread) => {}
            }
        }
        Err(failed("The Claude CLI neither knows the conversation nor begins it"))
    }

    /// A place for one more process. People may take days to decide; so where there is none, the process that waits the
    /// longest goes, and a new one will be told what they decided. If all are at work, the first that is not goes.
    async fn place(&self) -> Result<OwnedSemaphorePermit, ModelError> {
        let _wanted = WaitingForSlot::by(&self.wanting);
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
        mut talk: CliConversation,
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
struct WaitingForSlot<'a>(&'a AtomicUsize);

impl<'a> WaitingForSlot<'a> {
    fn by(wanting: &'a AtomicUsize) -> Self {
        wanting.fetch_add(1, Ordering::SeqCst);
        Self(wanting)
    }
}

impl Drop for WaitingForSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How to begin, and how else if the CLI sees it differently: a crash may have come before it kept anything, or before we
/// did, it forgets what is old, and it may have kept the name of a conversation without a word of it.
fn ways(thread: Option<&ModelThread>) -> &'static [CliStart] {
    match thread {
        Some(ModelThread { begun: true, .. }) => {
            &[CliStart::Resume, CliStart::Begin, CliStart::Anew]
        }
        Some(ModelThread { from: Some(_), .. }) => {
            &[CliStart::Fork, CliStart::Resume, CliStart::Begin, CliStart::Anew]
        }
        _ => &[CliStart::Begin, CliStart::Resume, CliStart::Anew],
    }
}

impl CliConversation {
    fn begin(
        settings: &ClaudeCliSettings,
        request: &ModelRequest,
        way: CliStart,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, ModelError> {
        let broken = |error: std::io::Error| {
            failed(&format!("The tools of the Claude CLI cannot be offered: {error}"))
        };
        let mut folder = PrivateFolder::make(&settings.folder).map_err(broken)?;
        if folder.socket().as_os_str().len() > LONGEST_SOCKET {
            folder = PrivateFolder::make(Path::new("/tmp")).map_err(broken)?;
        }
        let secret = uuid::Uuid::new_v4().simple().to_string();
        let listener = UnixListener::bind(folder.socket()).map_err(broken)?;
        folder.configure(&settings.link, &secret).map_err(broken)?;
        let (told, mut tasks) = (ToolServer::default(), JoinSet::new());
        tasks.spawn(tool_server::open(listener, secret, request.tools.clone(), told.clone()));
        let process = CliProcess::start(settings, request, way, folder, &mut tasks)?;
        let (lines, hearing) = (LineBuffer::default(), AnswerParser::default());
        let (ahead, since) = (VecDeque::new(), Instant::now());
        Ok(Self { process, lines, ahead, hearing, told, since, _tasks: tasks, _place: place })
    }

    /// Hears the CLI until its answer is complete.
    async fn hear(&mut self, outlet: &DeltaSink) -> Result<AssistantMessage, NoAnswerReason> {
        let mut piece = vec![0; 64 * 1024];
        loop {
            while let Some(line) = self.ahead.pop_front() {
                let heard = self.hearing.hear(line?);
                let (model, usage) = self.hearing.used();
                outlet.uses(model, usage);
                match heard? {
                    Some(LineOutcome::Tell(delta)) => outlet.send(delta).await,
                    Some(LineOutcome::Again(said)) => {
                        outlet.take_back().await;
                        if !said.is_empty() {
                            outlet.send(AnswerDelta::Text(said)).await;
                        }
                    }
                    Some(LineOutcome::Done(answer)) => return Ok(answer),
                    None => {}
                }
            }
            let count = self.process.output.read(&mut piece).await.unwrap_or(0);
            if count == 0 {
                let code = self.process.ended().await;
                return Err(stdout_parser::ended_without_result(code, &self.process.complaints()));
            }
            self.ahead.extend(self.lines.feed(&piece[..count]));
        }
    }
}

impl std::fmt::Debug for ClaudeCliModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claude").field("name", &self.name).finish_non_exhaustive()
    }
}
