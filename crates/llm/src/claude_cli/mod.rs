//! The Claude CLI as a [`Model`]: its subscription, this server's tools and approval step.
//!
//! The CLI runs its own loop of asking the model and calling tools. This module cuts that loop into
//! answers. Where the model calls tools, the answer is complete and the CLI waits
//! ([`tool_server`]); the run passes the calls through the approval step as for every model. The
//! next call of [`Model::stream`] gives the CLI the results and reads the next answer. If the
//! process has ended by then, because the server was restarted or the CLI gave up, a new process
//! resumes the conversation and receives the results as text.

mod process;
mod stdin;
mod stdio_shim;
mod stdout_parser;
mod tool_server;

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::messages_api::ContentBlock;
use copydesk_processes::{EnvironmentTag, stop_marked};

use super::delta_stream::{self, DeltaSink};
use super::{
    AnswerDelta, AnswerStream, AssistantMessage, Model, ModelRequest, ModelResult, ModelThread,
};
use process::{CliProcess, CliStart, PrivateFolder};
use stdout_parser::{AnswerParser, CliLine, LineBuffer, LineOutcome, NoAnswerReason, failed};
use tool_server::ToolServer;

pub use process::may_see;
pub use stdio_shim::connect;

/// Name of the model.
pub const NAME: &str = "claude-cli";
/// Environment variable that marks every process of every CLI that a server has started.
const OF_SERVER: &str = "COPYDESK_CLI_OF";
/// Name of the folder that the CLI works in.
const EMPTY: &str = "empty";
/// Longest time that a CLI may take to exit after its answer: it stores the conversation.
const LEAVE: Duration = Duration::from_secs(5);
/// Largest number of CLI processes at once, for all people: each takes a few hundred megabytes.
const PROCESSES: usize = 8;
/// Length of a socket's path, in bytes, that every system allows.
const LONGEST_SOCKET: usize = 100;

/// Settings of the Claude CLI.
#[derive(Clone, Debug)]
pub struct ClaudeCliSettings {
    /// Program of the CLI.
    pub program: OsString,
    /// Path of this program, which the CLI starts to reach its tools ([`connect`]).
    pub link: PathBuf,
    /// Environment of the CLI. The caller passes only variables that [`may_see`] allows.
    pub environment: Vec<(OsString, OsString)>,
    /// Folder for everything that the CLI needs, and for nothing else; created if it is missing.
    pub folder: PathBuf,
}

impl ClaudeCliSettings {
    fn mark(&self) -> EnvironmentTag {
        EnvironmentTag { name: OF_SERVER, value: self.folder.to_string_lossy().into_owned() }
    }

    /// Returns the folder that the CLI works in. It is always empty: a file in it that a text
    /// mentions as `@name` would be read to the model. Its path does not change, because the CLI
    /// remembers its conversations by folder.
    fn empty(&self) -> PathBuf {
        self.folder.join(EMPTY)
    }

    /// Prepares the folders, and stops and removes what an earlier process of this server has left.
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

/// [`Model`] that is answered by the Claude CLI.
pub struct ClaudeCliModel {
    name: String,
    shared: Arc<ClaudeCliShared>,
}

struct ClaudeCliShared {
    settings: ClaudeCliSettings,
    /// Name of the model that is used if a request names none.
    model: String,
    /// Conversations that wait for the results of tools, by run.
    waiting: Mutex<HashMap<String, CliConversation>>,
    /// Semaphore with [`PROCESSES`] permits, one for each running CLI.
    places: Arc<Semaphore>,
    /// Number of runs that wait for a permit.
    wanting: AtomicUsize,
}

/// Running CLI that writes an answer or waits for the results of tools.
struct CliConversation {
    process: CliProcess,
    lines: LineBuffer,
    /// Lines that arrived after the end of an answer.
    unread_lines: VecDeque<ModelResult<CliLine>>,
    parser: AnswerParser,
    server: ToolServer,
    /// Time since when the CLI waits for the results of tools.
    since: Instant,
    /// [`ToolServer`] of the process, and the tasks for its input and errors; they end with it.
    _tasks: JoinSet<()>,
    _place: OwnedSemaphorePermit,
}

impl ClaudeCliModel {
    /// Prepares the folders; no [`CliProcess`] is started yet. With `None` the CLI uses its default
    /// `model`.
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

    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let shared = Arc::clone(&self.shared);
        delta_stream::answer(cancel, |sink| async move { shared.answer(request, &sink).await })
    }

    fn keeps_threads(&self) -> bool {
        true
    }

    fn over(&self, run: &str) {
        self.shared.waiting.lock().remove(run);
    }
}

impl ClaudeCliShared {
    async fn answer(
        &self,
        mut request: ModelRequest,
        sink: &DeltaSink,
    ) -> ModelResult<AssistantMessage> {
        if request.model.is_empty() {
            request.model.clone_from(&self.model);
        }
        let waiting = self.waiting.lock().remove(&request.run);
        if let Some(mut talk) = waiting
            && talk.process.is_there()
            && talk.server.is_waited_for()
        {
            talk.server.answer(&request);
            return match talk.read_answer(sink).await {
                Ok(answer) => Ok(self.keep(request.run, talk, answer).await),
                Err(NoAnswerReason::Failed(error)) => Err(error),
                Err(NoAnswerReason::Thread) => Err(failed("The Claude CLI lost the conversation")),
            };
        }
        for way in ways(request.thread.as_ref()) {
            let place = self.place().await?;
            let mut talk = CliConversation::begin(&self.settings, &request, *way, place)?;
            match talk.read_answer(sink).await {
                Ok(answer) => return Ok(self.keep(request.run, talk, answer).await),
                Err(NoAnswerReason::Failed(error)) => return Err(error),
                Err(NoAnswerReason::Thread) => {}
            }
        }
        Err(failed("The Claude CLI can neither resume the conversation nor begin it"))
    }

    /// Waits for the permit of one more process. People may take days to decide, so if no permit is
    /// free, the process that has waited the longest is ended; a new process will receive the
    /// decisions later. If all processes are at work, the first that begins to wait is ended.
    async fn place(&self) -> ModelResult<OwnedSemaphorePermit> {
        let _wanted = WaitingForSlot::by(&self.wanting);
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        self.end_one();
        let place = Arc::clone(&self.places).acquire_owned().await;
        place.map_err(|_| failed("The Claude CLI is not started while the server stops"))
    }

    /// Ends the process that has waited for tools the longest.
    fn end_one(&self) {
        let mut waiting = self.waiting.lock();
        let oldest = waiting.iter().min_by_key(|(_, talk)| talk.since).map(|(run, _)| run.clone());
        let ended = oldest.and_then(|run| waiting.remove(&run));
        drop(waiting);
        drop(ended);
    }

    /// Keeps a CLI that waits for tools until they are answered, unless a run needs its permit.
    async fn keep(
        &self,
        run: String,
        mut talk: CliConversation,
        answer: AssistantMessage,
    ) -> AssistantMessage {
        if answer.content.iter().any(ContentBlock::is_tool_use) {
            talk.server.announce(&answer.content);
            talk.since = Instant::now();
            self.waiting.lock().insert(run, talk);
            if self.wanting.load(Ordering::SeqCst) > 0 {
                self.end_one();
            }
        } else if timeout(LEAVE, talk.process.leave()).await.is_err() {
            tracing::warn!("the Claude CLI did not exit in time");
        }
        answer
    }
}

/// Counts one run that waits for a permit, until the value is dropped.
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

/// Returns the ways to begin, in the order in which they are tried. A later way is needed if the
/// CLI's record of the conversation differs: a crash came before anything was stored, the CLI
/// forgets old conversations, or it has stored the name of a conversation without its content.
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
    ) -> ModelResult<Self> {
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
        let (server, mut tasks) = (ToolServer::default(), JoinSet::new());
        tasks.spawn(tool_server::open(listener, secret, request.tools.clone(), server.clone()));
        let process = CliProcess::start(settings, request, way, folder, &mut tasks)?;
        let (lines, parser) = (LineBuffer::default(), AnswerParser::of(request.tools.clone()));
        let (unread_lines, since) = (VecDeque::new(), Instant::now());
        Ok(Self {
            process,
            lines,
            unread_lines,
            parser,
            server,
            since,
            _tasks: tasks,
            _place: place,
        })
    }

    /// Reads the output of the CLI until its answer is complete.
    async fn read_answer(&mut self, sink: &DeltaSink) -> Result<AssistantMessage, NoAnswerReason> {
        let mut piece = vec![0; 64 * 1024];
        loop {
            while let Some(line) = self.unread_lines.pop_front() {
                let outcome = self.parser.read_line(line?);
                let (model, usage) = self.parser.used();
                sink.uses(model, usage);
                match outcome? {
                    Some(LineOutcome::Tell(delta)) => sink.send(delta).await,
                    Some(LineOutcome::Again(words)) => {
                        sink.send_reset().await;
                        if !words.is_empty() {
                            sink.send(AnswerDelta::Text(words)).await;
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
            self.unread_lines.extend(self.lines.feed(&piece[..count]));
        }
    }
}
