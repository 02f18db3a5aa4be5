//! One process of the grammar worker, and the questions that wait for it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::grammar_checker::CheckError;
use super::worker_client::{IDLE_LIMIT, QUESTION_LIMIT, Question, WorkerCommand};
use super::worker_protocol::{MAX_ANSWER_BYTES, MAX_QUESTION_BYTES, WorkerAnswer, WorkerQuestion};

/// Longest piece of standard error that becomes one line of the log, in bytes.
const LOG_PIECE: usize = 1024;
/// Longest time to wait for the rest of standard error after the end of the process.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Questions that no process works on, in the order of their arrival.
pub(super) struct QuestionQueue {
    arriving: mpsc::UnboundedReceiver<Question>,
    waiting: VecDeque<Question>,
}

impl QuestionQueue {
    pub(super) fn new(arriving: mpsc::UnboundedReceiver<Question>) -> Self {
        Self { arriving, waiting: VecDeque::new() }
    }

    /// Waits for a question whose caller still waits, and takes it; `None` when there are no more.
    pub(super) async fn next(&mut self) -> Option<Question> {
        loop {
            let question = match self.waiting.pop_front() {
                Some(question) => question,
                None => self.arriving.recv().await?,
            };
            if !question.answer.is_closed() {
                return Some(question);
            }
        }
    }

    pub(super) fn put_back(&mut self, question: Question) {
        self.waiting.push_front(question);
    }
}

/// Running worker. Dropping it ends the process.
pub(super) struct WorkerProcess {
    child: Child,
    input: ChildStdin,
    /// Bytes that the process has not read yet.
    unsent: Vec<u8>,
    output: AnswerReader,
    /// Standard error; `None` after its end.
    errors: Option<ChildStderr>,
    asked: HashMap<u64, AskedQuestion>,
    next_id: u64,
    /// Time of the last answer, or of the start.
    idle_since: Instant,
}

/// [`Question`] that the process works on.
struct AskedQuestion {
    question: Question,
    deadline: Instant,
}

/// Reason why a process is ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    /// No question has come for [`IDLE_LIMIT`].
    Idle,
    /// No question will come any more.
    Over,
    /// A check took longer than [`QUESTION_LIMIT`].
    TooLong,
    /// The process has ended by itself, or does not answer as it should.
    Lost(String),
}

impl WorkerProcess {
    /// Starts a process with an empty environment: it needs nothing, and nothing secret is in it.
    pub(super) fn start(command: &WorkerCommand) -> io::Result<Self> {
        let mut start = Command::new(&command.program);
        start
            .args(&command.arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        start
            // For lists of processes: the program may be a link below `/proc`.
            .arg0("copydesk")
            .current_dir("/")
            // A Ctrl-C in the terminal of the server is for the server, which ends this process.
            .process_group(0);
        let mut child = start.spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = streams else {
            return Err(io::Error::other("the process has no standard streams"));
        };
        tracing::debug!(process = child.id(), "started the process of the grammar checker");
        Ok(Self {
            child,
            input,
            unsent: Vec::new(),
            output: AnswerReader { output: BufReader::new(output), line: Vec::new() },
            errors: Some(errors),
            asked: HashMap::new(),
            next_id: 0,
            idle_since: Instant::now(),
        })
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Answers questions until the process has to be ended.
    pub(super) async fn answer(&mut self, queue: &mut QuestionQueue) -> ProcessEnd {
        loop {
            while let Some(question) = self.take_from(queue) {
                self.ask(question);
            }
            let deadline = self.asked.values().map(|asked| asked.deadline).min();
            let limit = deadline.unwrap_or(self.idle_since + IDLE_LIMIT);
            tokio::select! {
                question = queue.arriving.recv() => match question {
                    Some(question) => queue.waiting.push_back(question),
                    None => return ProcessEnd::Over,
                },
                line = self.output.next_line() => {
                    let answer = line.map_err(|error| error.to_string());
                    let answer = answer.and_then(|line| WorkerAnswer::read(&line));
                    if let Err(reason) = answer.and_then(|answer| self.pass_on(answer)) {
                        return ProcessEnd::Lost(reason);
                    }
                }
                written = self.input.write(&self.unsent), if !self.unsent.is_empty() => {
                    match written {
                        Ok(count) => drop(self.unsent.drain(..count)),
                        // The end of its output follows, if it has ended.
                        Err(_) => self.unsent.clear(),
                    }
                }
                piece = read_piece(&mut self.errors), if self.errors.is_some() => log(&piece),
                () = sleep_until(limit) => match deadline {
                    Some(_) => return ProcessEnd::TooLong,
                    None => return ProcessEnd::Idle,
                },
            }
        }
    }

    /// Takes the next question that may be asked now: a second try is alone in its process.
    fn take_from(&self, queue: &mut QuestionQueue) -> Option<Question> {
        queue.waiting.retain(|question| !question.answer.is_closed());
        let next = queue.waiting.front()?;
        let mut others = self.asked.values().map(|asked| &asked.question);
        let is_shared = !next.is_second_try && others.all(|other| !other.is_second_try);
        if self.asked.is_empty() || is_shared { queue.waiting.pop_front() } else { None }
    }

    fn ask(&mut self, question: Question) {
        let id = self.next_id;
        self.next_id += 1;
        let line = serde_json::to_vec(&WorkerQuestion { id, text: &*question.text });
        match line {
            Ok(line) if line.len() < MAX_QUESTION_BYTES => {
                self.unsent.extend(line);
                self.unsent.push(b'\n');
                let deadline = Instant::now() + QUESTION_LIMIT;
                self.asked.insert(id, AskedQuestion { question, deadline });
            }
            Ok(_) | Err(_) => {
                question.answer.send(Err(CheckError::TooLarge)).ok();
            }
        }
    }

    /// Gives an answer to the caller that waits for it.
    fn pass_on(&mut self, answer: WorkerAnswer) -> Result<(), String> {
        let Some(asked) = self.asked.get(&answer.id) else {
            return Err("it answered what nobody had asked".into());
        };
        if !answer.fits(&asked.question.text) {
            return Err("its corrections do not fit the text".into());
        }
        if let Some(AskedQuestion { question, .. }) = self.asked.remove(&answer.id) {
            question.answer.send(answer.corrections.ok_or(CheckError::Panicked)).ok();
        }
        self.idle_since = Instant::now();
        Ok(())
    }

    /// Ends the process, waits for its end, and decides about the questions that it leaves: one
    /// that took too long or is lost for the second time fails, the others are asked again.
    pub(super) async fn end(mut self, reason: &ProcessEnd, queue: &mut QuestionQueue) {
        // An error means that it has ended.
        self.child.start_kill().ok();
        let status = self.child.wait().await.ok();
        // Its last words, unless another process has inherited the stream.
        while let Ok(piece) = timeout(LAST_WORDS, read_piece(&mut self.errors)).await {
            log(&piece);
            if self.errors.is_none() {
                break;
            }
        }
        match reason {
            ProcessEnd::Idle => tracing::debug!("ended the idle process of the grammar checker"),
            ProcessEnd::Over => {}
            ProcessEnd::TooLong => {
                tracing::warn!("ended the process of the grammar checker: a check took too long");
            }
            ProcessEnd::Lost(reason) => {
                let status = status.map(|status| status.to_string());
                tracing::warn!(reason, status, "lost the process of the grammar checker");
            }
        }
        let now = Instant::now();
        let mut left: Vec<(u64, AskedQuestion)> = self.asked.into_iter().collect();
        left.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
        for (_, AskedQuestion { mut question, deadline }) in left {
            if deadline <= now {
                question.answer.send(Err(CheckError::TooLong)).ok();
            } else if question.is_second_try {
                question.answer.send(Err(CheckError::Lost)).ok();
            } else {
                question.is_second_try = true;
                queue.put_back(question);
            }
        }
    }
}

/// Standard output of a process, line by line.
struct AnswerReader {
    output: BufReader<ChildStdout>,
    /// Start of the next line.
    line: Vec<u8>,
}

impl AnswerReader {
    /// Reads a line. Dropping the future loses nothing of it.
    async fn next_line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let piece = self.output.fill_buf().await?;
            if piece.is_empty() {
                return Err(io::Error::other("its output has ended"));
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            self.line.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
            let count = end.map_or(piece.len(), |end| end + 1);
            self.output.consume(count);
            if self.line.len() > MAX_ANSWER_BYTES {
                return Err(io::Error::other("its answer is too long"));
            }
            if end.is_some() {
                return Ok(std::mem::take(&mut self.line));
            }
        }
    }
}

/// Reads what has arrived on standard error; at its end, removes the stream.
async fn read_piece(errors: &mut Option<ChildStderr>) -> Vec<u8> {
    let Some(stream) = errors else { return Vec::new() };
    let mut piece = vec![0; LOG_PIECE];
    let count = stream.read(&mut piece).await.unwrap_or(0);
    if count == 0 {
        *errors = None;
    }
    piece.truncate(count);
    piece
}

fn log(piece: &[u8]) {
    for line in String::from_utf8_lossy(piece).lines() {
        tracing::warn!(line, "message of the process of the grammar checker");
    }
}
