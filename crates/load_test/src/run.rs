//! One load test from its first connection to its report.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use copydesk_client::ServerClient;
use copydesk_client::socketio::{SocketIoClient, SocketIoServer};
use copydesk_protocol::client::{PEER_CHANGES, SHORT_UPDATES};

use super::activity::{ClientActivity, LoadedDocument, WorkingTime};
use super::delivery_log::{DeliveryLog, DeliveryTimes};
use super::local_server::LocalServer;
use super::participant::{LoadParticipant, ParticipantResult, TestPhase};
use super::patient_ask::ask_patiently;
use super::people::LoadPeople;
use super::plan::{LoadPlan, WARM_UP};
use super::process_usage::ProcessUsage;
use super::report::{LoadMeasurements, LoadReport, MemoryReadings};
use super::reviewer::LoadReviewer;
use super::test_text::{lost_letters, new_text, sentence_of_reviewer};
use super::writer::LoadWriter;
use crate::{LoadTestError, LoadTestResult};

/// Clients that connect at the same time.
const ARRIVING_AT_ONCE: usize = 16;
/// Maximum time for clients to be acknowledged and to receive everything after the measurement.
const FINISH: Duration = Duration::from_mins(1);
/// Time for all clients to learn that the work begins.
const ANNOUNCEMENT: Duration = Duration::from_millis(200);

/// Server to test.
pub enum TestedServer {
    /// One that is started for the test.
    Own {
        /// Program of the server: `copydesk`.
        program: PathBuf,
        /// Directory for a new one with the data; `None`: the system's for temporary files.
        parent: Option<PathBuf>,
    },
    /// One that runs.
    Running {
        /// Addresses, such as `http://127.0.0.1:4680`: one, or those of all servers on a database.
        urls: Vec<String>,
        /// Token of an owner.
        token: String,
        /// Numbers of the processes, if they run on this machine.
        processes: Vec<u32>,
    },
}

/// Load test in progress.
pub struct LoadTest {
    plan: LoadPlan,
    urls: Vec<String>,
    sockets: Vec<SocketIoServer>,
    people: LoadPeople,
    /// Processes of the servers below `/proc`.
    processes: Vec<String>,
    documents: Vec<Arc<LoadedDocument>>,
}

/// Clients of a load test, and how they are led.
struct ClientCrowd {
    tasks: JoinSet<LoadTestResult<ParticipantResult>>,
    phase: watch::Sender<TestPhase>,
    /// Closed when all have done their work.
    busy: mpsc::Receiver<()>,
}

impl LoadTest {
    /// Runs the test until its end, or until `stop` is ready; then removes what it made.
    pub async fn run(
        plan: LoadPlan,
        server: TestedServer,
        stop: impl Future<Output = ()>,
    ) -> LoadTestResult<LoadReport> {
        let (own, urls, token, processes) = match server {
            TestedServer::Running { urls, token, processes } => (None, urls, token, processes),
            TestedServer::Own { program, parent } => {
                let own = LocalServer::start(&program, parent.as_deref()).await?;
                let (urls, token) = (vec![own.url.clone()], own.token.clone());
                let processes = own.process().into_iter().collect();
                (Some(own), urls, token, processes)
            }
        };
        let people = LoadPeople::gather(&urls[0], &token, plan.clients()).await?;
        let sockets = urls.iter().map(|url| SocketIoServer::new(url)).collect::<Result<_, _>>()?;
        let processes = processes.iter().map(ToString::to_string).collect();
        let mut test = Self { plan, urls, sockets, people, processes, documents: Vec::new() };
        let measured = tokio::select! {
            measured = test.measure() => measured,
            () = stop => Err(LoadTestError::Stopped),
        };
        let place = own.as_ref().map(|own| own.data().display().to_string());
        match own {
            Some(own) => own.stop().await,
            None => test.clean_up().await?,
        }
        Ok(LoadReport::new(test.plan, test.urls.join(", "), place, &measured?))
    }

    async fn measure(&mut self) -> LoadTestResult<LoadMeasurements> {
        let mut controls = Vec::with_capacity(self.sockets.len());
        for place in 0..self.sockets.len() {
            controls.push(self.connect(0, place, "Load test").await?);
        }
        // What the first document needs is no share of each.
        let first = self.create_document(&mut controls[0], "Load test, first").await?;
        let at_start = self.memory();
        for number in 0..self.plan.documents {
            let title = format!("Load test {number}");
            // Each server has as many of them.
            let place = number as usize % controls.len();
            let document = self.create_document(&mut controls[place], &title).await?;
            self.documents.push(Arc::new(document));
        }
        let with_documents = self.memory();
        let first = json!({"documentId": first.id});
        ask_patiently(&mut controls[0], "document:delete", &first).await?;
        let mut crowd = self.gather().await?;
        let with_clients = self.memory();
        drop(controls);
        let begin = Instant::now() + ANNOUNCEMENT;
        let measured = begin + WARM_UP..begin + WARM_UP + self.plan.length();
        let time = WorkingTime { begin, measured: measured.clone() };
        crowd.phase.send_replace(TestPhase::Working(time));
        crowd.work_until(measured.start).await?;
        let before = (self.usage(), ProcessUsage::of("self"));
        crowd.work_until(measured.end).await?;
        let after = (self.usage(), ProcessUsage::of("self"));
        crowd.finish_work().await?;
        let texts = self.read_back().await?;
        let versions = texts.iter().map(|(version, _)| *version).collect();
        let results = crowd.end(versions).await?;
        let mut times = DeliveryTimes::default();
        for document in &self.documents {
            document.log.add_times(&measured, &mut times);
        }
        let mut measurements = LoadMeasurements {
            memory: MemoryReadings {
                at_start,
                with_documents,
                with_clients,
                at_end: self.memory(),
            },
            cpu: cpu_between(before.0, after.0),
            own_cpu: cpu_between(before.1, after.1),
            decided: times.decisions,
            delivered: times.keystrokes,
            missing_deliveries: times.missing,
            ..LoadMeasurements::default()
        };
        for result in results {
            let text = &texts[result.document_index].1;
            measurements.add(result, text);
        }
        Ok(measurements)
    }

    async fn create_document(
        &self,
        client: &mut SocketIoClient,
        title: &str,
    ) -> LoadTestResult<LoadedDocument> {
        let LoadPlan { text_length, writers, reviewers, .. } = self.plan;
        let text = new_text(text_length as usize, writers, reviewers);
        let wish = json!({"title": title, "text": text});
        let made = ask_patiently(client, "document:create", &wish).await?;
        let id = made["document"]["id"].as_str().ok_or(LoadTestError::Strange)?.to_owned();
        ask_patiently(client, "document:open", &json!({"documentId": id})).await?;
        Ok(LoadedDocument { id, log: DeliveryLog::new(self.plan.clients_per_document()) })
    }

    async fn gather(&self) -> LoadTestResult<ClientCrowd> {
        let (phase, following) = watch::channel(TestPhase::Arriving);
        let (working, busy) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        let clients = usize::try_from(self.plan.clients()).unwrap_or(usize::MAX);
        let arrivals = (0..clients).map(|index| self.arrive(index, working.clone()));
        let mut arrivals = stream::iter(arrivals).buffer_unordered(ARRIVING_AT_ONCE);
        while let Some(participant) = arrivals.try_next().await? {
            // From now on it answers the server's pings.
            tasks.spawn(participant.take_part(following.clone()));
        }
        Ok(ClientCrowd { tasks, phase, busy })
    }

    /// Connects the client with this index: the first of a document are its writers.
    async fn arrive(
        &self,
        index: usize,
        busy: mpsc::Sender<()>,
    ) -> LoadTestResult<LoadParticipant> {
        let each = self.plan.clients_per_document() as usize;
        let (document_index, place) = (index / each, (index % each) as u32);
        let document = Arc::clone(&self.documents[document_index]);
        let LoadPlan { writers, reviewers, .. } = self.plan;
        let (name, server) = if place < writers {
            ("Writer", None)
        } else if place < writers + reviewers {
            let url = &self.urls[self.server_of(document_index, place)];
            let server = ServerClient::patient(url, Some(self.people.secret(index)))?;
            ("Reviewer", Some(server))
        } else {
            ("Reader", None)
        };
        let server_index = self.server_of(document_index, place);
        let client = self.connect(index, server_index, &format!("{name} {index}")).await?;
        let at = (document_index, Arc::clone(&document));
        LoadParticipant::open(client, at, busy, |opened| {
            Ok(match server {
                Some(server) => {
                    let interval = Duration::from_secs_f64(60.0 / self.plan.decisions_per_minute);
                    let number = place - writers;
                    let reviewer = LoadReviewer::new(document, number, interval, (server, opened))?;
                    ClientActivity::Review(Box::new(reviewer))
                }
                None if place < writers => {
                    let interval = Duration::from_secs_f64(1.0 / self.plan.edits_per_second);
                    ClientActivity::Write(Box::new(LoadWriter::new(
                        document, place, interval, opened,
                    )))
                }
                None => ClientActivity::Read,
            })
        })
        .await
    }

    /// Returns the server of a client: the first of a document comes to the one that has it.
    fn server_of(&self, document: usize, place: u32) -> usize {
        (document + place as usize) % self.urls.len()
    }

    async fn connect(
        &self,
        index: usize,
        server: usize,
        name: &str,
    ) -> LoadTestResult<SocketIoClient> {
        let capabilities: &[&str] =
            if self.plan.capabilities { &[PEER_CHANGES, SHORT_UPDATES] } else { &[] };
        let token = self.people.secret(index);
        let auth = json!({"token": token, "name": name, "capabilities": capabilities});
        Ok(self.sockets[server].connect(&auth).await?)
    }

    /// Reads every document back: its version and its text.
    async fn read_back(&self) -> LoadTestResult<Vec<(u64, String)>> {
        let mut client = self.connect(0, 0, "Load test").await?;
        let mut texts = Vec::with_capacity(self.documents.len());
        for document in &self.documents {
            let id = json!({"documentId": document.id});
            let mut opened = ask_patiently(&mut client, "document:open", &id).await?;
            ask_patiently(&mut client, "document:close", &id).await?;
            let Value::String(text) = opened["document"]["text"].take() else {
                return Err(LoadTestError::Strange);
            };
            let version = opened["document"]["version"].as_u64();
            texts.push((version.ok_or(LoadTestError::Strange)?, text));
        }
        Ok(texts)
    }

    async fn clean_up(&self) -> LoadTestResult<()> {
        let mut client = self.connect(0, 0, "Load test").await?;
        for document in &self.documents {
            let id = json!({"documentId": document.id});
            ask_patiently(&mut client, "document:delete", &id).await?;
        }
        Ok(self.people.leave().await?)
    }

    fn usage(&self) -> Option<ProcessUsage> {
        ProcessUsage::of_all(&self.processes)
    }

    fn memory(&self) -> Option<u64> {
        Some(self.usage()?.memory)
    }
}

impl ClientCrowd {
    /// Waits until that time; fails as soon as a client does.
    async fn work_until(&mut self, until: Instant) -> LoadTestResult<()> {
        tokio::select! {
            () = sleep_until(until) => Ok(()),
            failure = first_failure(&mut self.tasks) => Err(failure),
        }
    }

    /// Waits until everything that was typed and decided is acknowledged.
    async fn finish_work(&mut self) -> LoadTestResult<()> {
        let left = self.busy.sender_strong_count();
        let finished = async {
            tokio::select! {
                _ = self.busy.recv() => Ok(()),
                failure = first_failure(&mut self.tasks) => Err(failure),
            }
        };
        let finished = timeout(FINISH, finished).await;
        finished.unwrap_or(Err(LoadTestError::Unfinished(left, FINISH.as_secs())))
    }

    /// Waits until all clients have the last version of their document.
    async fn end(mut self, versions: Vec<u64>) -> LoadTestResult<Vec<ParticipantResult>> {
        self.phase.send_replace(TestPhase::Ending(Arc::new(versions)));
        let mut results = Vec::with_capacity(self.tasks.len());
        let all = async {
            while let Some(ended) = self.tasks.join_next().await {
                results.push(ended.map_err(|_| LoadTestError::Stopped)??);
            }
            Ok(())
        };
        match timeout(FINISH, all).await {
            Ok(ended) => ended.map(|()| results),
            Err(_) => Err(LoadTestError::Unfinished(self.tasks.len(), FINISH.as_secs())),
        }
    }
}

async fn first_failure(tasks: &mut JoinSet<LoadTestResult<ParticipantResult>>) -> LoadTestError {
    match tasks.join_next().await {
        Some(Ok(Err(failure))) => failure,
        _ => LoadTestError::Stopped,
    }
}

fn cpu_between(before: Option<ProcessUsage>, after: Option<ProcessUsage>) -> Option<Duration> {
    Some(after?.cpu_since(&before?))
}

impl LoadMeasurements {
    /// Adds the results of a client, and compares what it did with the text of its document.
    fn add(&mut self, result: ParticipantResult, text: &str) {
        self.deliveries += result.received.updates;
        self.delivered_bytes += result.received.bytes;
        match result.activity {
            ClientActivity::Read => {}
            ClientActivity::Write(writer) => {
                let typed = writer.typed;
                self.lost += lost_letters(text, writer.number, typed.acknowledged);
                self.refused += typed.refused;
                self.acknowledged.extend(typed.times);
            }
            ClientActivity::Review(reviewer) => {
                let sentence = sentence_of_reviewer(reviewer.number, reviewer.accepted);
                self.lost += usize::from(!text.contains(&sentence));
            }
        }
    }
}
