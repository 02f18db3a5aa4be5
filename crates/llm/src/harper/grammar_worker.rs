//! Grammar worker (`copydesk grammar-worker`): a child process of the server that holds the
//! dictionary and checks texts. It reads [`WorkerQuestion`]s from standard input and writes
//! [`WorkerAnswer`]s to standard output. It ends at the end of its input, whatever it is doing: so
//! it ends with the server, however suddenly that ends.

use std::io::{BufRead, Error, ErrorKind, Read as _, Result, Write};
use std::panic::catch_unwind;
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

use super::proofread::proofread;
use super::worker_protocol::{MAX_QUESTION_BYTES, WorkerAnswer, WorkerQuestion};

/// Runs the worker on the standard streams of this process until its input ends.
pub fn run() -> Result<()> {
    // The message of a panic can have words of the text, which are never logged.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        eprintln!("the grammar checker panicked at {place}");
    }));
    serve(std::io::stdin().lock(), std::io::stdout())
}

/// Answers each question of `input` in a thread: a short text does not wait for a long one. The
/// server limits the number of questions at a time.
fn serve(mut input: impl BufRead, output: impl Write + Send + 'static) -> Result<()> {
    let output = Arc::new(Mutex::new(output));
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = MAX_QUESTION_BYTES as u64 + 1;
        input.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        if line.len() > MAX_QUESTION_BYTES {
            return Err(Error::new(ErrorKind::InvalidData, "a question is too long"));
        }
        let question: WorkerQuestion<String> = serde_json::from_slice(&line)
            .map_err(|_| Error::new(ErrorKind::InvalidData, "a line is not a question"))?;
        let output = Arc::clone(&output);
        let checking = move || {
            let WorkerQuestion { id, text } = question;
            let corrections = catch_unwind(|| proofread(&text)).ok();
            // The server is gone: the input ends too.
            write_answer(&WorkerAnswer { id, corrections }, &output).ok();
        };
        thread::Builder::new().name("grammar".into()).spawn(checking)?;
    }
}

fn write_answer(answer: &WorkerAnswer, output: &Mutex<impl Write>) -> Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    let mut output = output.lock();
    output.write_all(&line)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// Starts a worker in this process; returns its input and its output.
    fn worker() -> (std::io::PipeWriter, impl BufRead, thread::JoinHandle<Result<()>>) {
        let (input, questions) = std::io::pipe().expect("a pipe");
        let (answers, output) = std::io::pipe().expect("a pipe");
        let working = thread::spawn(move || serve(BufReader::new(input), output));
        (questions, BufReader::new(answers), working)
    }

    fn ask(questions: &mut impl Write, id: u64, text: &str) {
        let mut line = serde_json::to_vec(&WorkerQuestion { id, text }).expect("a question");
        line.push(b'\n');
        questions.write_all(&line).expect("the worker reads");
    }

    fn answer(answers: &mut impl BufRead) -> WorkerAnswer {
        let mut line = Vec::new();
        answers.read_until(b'\n', &mut line).expect("the worker writes");
        WorkerAnswer::read(&line).expect("an answer")
    }

    #[test]
    fn the_worker_finds_what_is_found_in_the_process() {
        let (mut questions, mut answers, working) = worker();
        let text = "They was late.\nHe recieved the the “letter”. 🦀 \u{1}\n";
        ask(&mut questions, 7, text);
        let found = answer(&mut answers);
        assert!(found.fits(text) && !found.fits("They"), "{found:?}");
        assert_eq!(found, WorkerAnswer { id: 7, corrections: Some(proofread(text)) });
        drop(questions);
        working.join().expect("no panic").expect("the end of the input is a good end");
    }

    #[test]
    fn a_short_text_is_answered_before_a_long_one_that_came_first() {
        let (mut questions, mut answers, _) = worker();
        ask(&mut questions, 0, "Warm.");
        answer(&mut answers);
        ask(&mut questions, 1, &"They was late, and the fog rose over the the pier. ".repeat(900));
        ask(&mut questions, 2, "They was late.");
        assert_eq!(answer(&mut answers).id, 2);
        assert_eq!(answer(&mut answers).id, 1);
    }

    #[test]
    fn a_line_that_is_no_question_ends_the_worker() {
        let (mut questions, _answers, working) = worker();
        questions.write_all(b"{\"id\":1}\n").expect("the worker reads");
        assert!(working.join().expect("no panic").is_err());
        let (mut questions, _answers, working) = worker();
        let long = vec![b' '; MAX_QUESTION_BYTES + 1];
        questions.write_all(&long).ok();
        assert!(working.join().expect("no panic").is_err());
    }
}
