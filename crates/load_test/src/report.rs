//! Results of a load test, as JSON and as a table for people.

use std::fmt::{self, Display, Formatter};
use std::thread::available_parallelism;
use std::time::Duration;

use serde::Serialize;

use super::plan::LoadPlan;

/// Memory of a server in bytes; `None` where it is unknown.
#[derive(Clone, Copy, Default)]
pub(super) struct MemoryReadings {
    /// Before there were documents.
    pub at_start: Option<u64>,
    /// With all documents open.
    pub with_documents: Option<u64>,
    /// With all clients in their documents.
    pub with_clients: Option<u64>,
    /// After the work.
    pub at_end: Option<u64>,
}

#[derive(Default)]
pub(super) struct LoadMeasurements {
    pub memory: MemoryReadings,
    /// Processor time of the server while it was measured; `None` if it is unknown.
    pub cpu: Option<Duration>,
    /// Processor time of the load test itself.
    pub own_cpu: Option<Duration>,
    /// Times from keystroke to acknowledgement, in milliseconds.
    pub acknowledged: Vec<f64>,
    /// Times from keystroke until everyone had it, in milliseconds.
    pub delivered: Vec<f64>,
    /// Times from decision until everyone had the change, in milliseconds.
    pub decided: Vec<f64>,
    /// Number of updates that clients received.
    pub deliveries: u64,
    pub delivered_bytes: u64,
    /// Number of updates that clients did not receive.
    pub missing_deliveries: u64,
    /// Number of acknowledged changes that are not in the documents.
    pub lost: usize,
    /// Number of pushes that were refused for now.
    pub refused: u64,
}

/// Results of a load test.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadReport {
    /// Options of the test.
    pub plan: LoadPlan,
    /// Machine of the load test.
    pub machine: MachineReport,
    /// Server and what it used.
    pub server: ServerReport,
    /// Times that people waited.
    pub times: TimesReport,
    /// Keystrokes in the measured time.
    pub edits: EditsReport,
    /// Updates that clients received in the measured time.
    pub deliveries: DeliveriesReport,
}

/// Machine on which the load test ran.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineReport {
    /// Number of processors.
    pub processors: usize,
    /// Processors that the load test itself used, on average; `None` if it is unknown.
    pub used_by_clients: Option<f64>,
}

/// Server of a load test. What is unknown is `None`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerReport {
    /// Address.
    pub address: String,
    /// Data directory, if the server was started for the test.
    pub data: Option<String>,
    /// Processors that it used, on average.
    pub processors_used: Option<f64>,
    /// Processor time of all its work for each acknowledged keystroke, in milliseconds.
    pub cpu_ms_per_edit: Option<f64>,
    /// Processor time of all its work for each update that a client received, in milliseconds.
    pub cpu_ms_per_delivery: Option<f64>,
    /// Memory after the work, in megabytes.
    pub memory_mb: Option<f64>,
    /// Memory for each open document without clients, in kilobytes.
    pub memory_kb_per_document: Option<f64>,
    /// Memory for each client, in kilobytes.
    pub memory_kb_per_client: Option<f64>,
}

/// Times that people waited.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimesReport {
    /// From a keystroke until the server has acknowledged it.
    pub keystroke_to_acknowledgement: Option<TimeSummary>,
    /// From a keystroke until everyone in the document has it.
    pub keystroke_to_everyone: Option<TimeSummary>,
    /// From a decision until everyone in the document has the change.
    pub decision_to_everyone: Option<TimeSummary>,
}

/// Summary of times, in milliseconds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeSummary {
    /// Number of times.
    pub count: usize,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Longest time.
    pub longest_ms: f64,
}

/// Keystrokes of a load test.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EditsReport {
    /// Number that the plan has.
    pub planned: f64,
    /// Number that the server acknowledged.
    pub acknowledged: usize,
    /// Number in a second.
    pub per_second: f64,
    /// Number of pushes that the server refused for now; they were sent again.
    pub refused_for_now: u64,
    /// Number of acknowledged changes that were not in the documents when these were read back.
    pub lost: usize,
}

/// Updates that clients received.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveriesReport {
    /// Number of updates.
    pub count: u64,
    /// Number in a second.
    pub per_second: f64,
    /// Bytes of each on the connection, without TCP/IP.
    pub bytes_each: Option<f64>,
    /// Number of updates that some client did not receive.
    pub missing: u64,
}

impl LoadReport {
    pub(super) fn new(
        plan: LoadPlan,
        address: String,
        data: Option<String>,
        measured: &LoadMeasurements,
    ) -> Self {
        let seconds = f64::from(plan.seconds);
        let (edits, deliveries) = (measured.acknowledged.len(), measured.deliveries);
        let cpu_ms = measured.cpu.map(|cpu| cpu.as_secs_f64() * 1_000.0);
        let growth = |from: Option<u64>, to: Option<u64>, count: f64| {
            Some(to?.saturating_sub(from?) as f64 / 1_000.0 / count)
        };
        let MemoryReadings { at_start, with_documents, with_clients, at_end } = measured.memory;
        Self {
            machine: MachineReport {
                processors: available_parallelism().map_or(1, usize::from),
                used_by_clients: measured.own_cpu.map(|cpu| cpu.as_secs_f64() / seconds),
            },
            server: ServerReport {
                address,
                data,
                processors_used: cpu_ms.map(|cpu| cpu / 1_000.0 / seconds),
                cpu_ms_per_edit: cpu_ms.and_then(|cpu| share(cpu, edits as f64)),
                cpu_ms_per_delivery: cpu_ms.and_then(|cpu| share(cpu, deliveries as f64)),
                memory_mb: at_end.map(|end| end as f64 / 1_000_000.0),
                memory_kb_per_document: growth(at_start, with_documents, plan.documents.into()),
                memory_kb_per_client: growth(with_documents, with_clients, plan.clients() as f64),
            },
            times: TimesReport {
                keystroke_to_acknowledgement: TimeSummary::of(&measured.acknowledged),
                keystroke_to_everyone: TimeSummary::of(&measured.delivered),
                decision_to_everyone: TimeSummary::of(&measured.decided),
            },
            edits: EditsReport {
                planned: plan.planned_edits(),
                acknowledged: edits,
                per_second: edits as f64 / seconds,
                refused_for_now: measured.refused,
                lost: measured.lost,
            },
            deliveries: DeliveriesReport {
                count: deliveries,
                per_second: deliveries as f64 / seconds,
                bytes_each: share(measured.delivered_bytes as f64, deliveries as f64),
                missing: measured.missing_deliveries,
            },
            plan,
        }
    }

    /// Returns `true` if nothing was lost, and everyone received everything.
    pub fn is_complete(&self) -> bool {
        self.edits.lost == 0 && self.deliveries.missing == 0
    }
}

fn share(whole: f64, count: f64) -> Option<f64> {
    (count > 0.0).then(|| whole / count)
}

impl TimeSummary {
    /// Returns the summary of times in milliseconds; `None` if there are none.
    fn of(times: &[f64]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let percentile = |percent: usize| sorted[last * percent / 100];
        Some(Self {
            count: sorted.len(),
            p50_ms: percentile(50),
            p95_ms: percentile(95),
            p99_ms: percentile(99),
            longest_ms: percentile(100),
        })
    }
}

/// Columns of the names of values.
const NAME: usize = 52;

impl Display for LoadReport {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let Self { plan, .. } = self;
        writeln!(
            to,
            "Documents: {} of {} characters. In each: writers {} (keystrokes a second: {}), readers {},\n\
             reviewers {} (decisions a minute: {}). All clients: {}. Seconds: {}. Short messages: {}.\n",
            plan.documents,
            plan.text_length,
            plan.writers,
            plan.edits_per_second,
            plan.readers,
            plan.reviewers,
            plan.decisions_per_minute,
            plan.clients(),
            plan.seconds,
            if plan.capabilities { "on" } else { "off" },
        )?;
        self.write_times(to)?;
        self.write_server(to)?;
        self.write_result(to)
    }
}

impl LoadReport {
    fn write_times(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let heads = ["half", "95 %", "99 %", "all", "count"];
        write!(to, "{:NAME$}", "Time until it was done for …, in milliseconds")?;
        heads.iter().try_for_each(|head| write!(to, "{head:>10}"))?;
        writeln!(to)?;
        let TimesReport {
            keystroke_to_acknowledgement: acknowledged,
            keystroke_to_everyone: typed,
            decision_to_everyone: decided,
        } = &self.times;
        for (name, times) in [
            ("keystroke → acknowledged, which means on disk", acknowledged),
            ("keystroke → everybody in the document", typed),
            ("decision → everybody in the document", decided),
        ] {
            let Some(times) = times else { continue };
            write!(to, "  {name:width$}", width = NAME - 2)?;
            for ms in [times.p50_ms, times.p95_ms, times.p99_ms, times.longest_ms] {
                write!(to, "{ms:>10.2}")?;
            }
            writeln!(to, "{:>10}", times.count)?;
        }
        writeln!(to)
    }

    fn write_server(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let ServerReport { address, data, .. } = &self.server;
        match data {
            Some(data) => writeln!(to, "Server started for this test, with its data in {data}")?,
            None => writeln!(to, "Server at {address}")?,
        }
        let (server, processors) = (&self.server, self.machine.processors);
        let number = |value: Option<f64>, digits: usize| value.map(|it| format!("{it:.digits$}"));
        for (name, value, unit) in [
            ("processors used", number(server.processors_used, 3), format!("of {processors}")),
            ("processor time for each keystroke", number(server.cpu_ms_per_edit, 3), "ms".into()),
            (
                "processor time for each delivery",
                number(server.cpu_ms_per_delivery, 3),
                "ms".into(),
            ),
            ("memory after the test", number(server.memory_mb, 0), "MB".into()),
            (
                "memory for each open document",
                number(server.memory_kb_per_document, 0),
                "kB".into(),
            ),
            ("memory for each client", number(server.memory_kb_per_client, 0), "kB".into()),
        ] {
            match value {
                Some(value) => line(to, name, &value, &unit)?,
                None => line(to, name, "unknown", "")?,
            }
        }
        if self.server.processors_used.is_none() {
            writeln!(to, "  (--server-process PID tells these, if the server is on this machine)")?;
        }
        writeln!(to)
    }

    fn write_result(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let (edits, deliveries) = (&self.edits, &self.deliveries);
        writeln!(to, "Result")?;
        let rate = format!("({:.0} a second; planned {:.0})", edits.per_second, edits.planned);
        line(to, "keystrokes acknowledged", &edits.acknowledged.to_string(), &rate)?;
        let rate = format!("({:.0} a second)", deliveries.per_second);
        line(to, "deliveries: one keystroke at one client", &deliveries.count.to_string(), &rate)?;
        if let Some(bytes) = deliveries.bytes_each {
            line(to, "bytes for each delivery, without TCP/IP", &format!("{bytes:.0}"), "")?;
        }
        if let Some(used) = self.machine.used_by_clients {
            line(to, "processors used by the clients", &format!("{used:.2}"), "")?;
        }
        if edits.refused_for_now > 0 {
            line(to, "pushes refused and sent again", &edits.refused_for_now.to_string(), "")?;
        }
        line(to, "deliveries missing", &deliveries.missing.to_string(), "")?;
        line(to, "edits lost", &edits.lost.to_string(), "(documents read back and compared)")
    }
}

fn line(to: &mut Formatter<'_>, name: &str, value: &str, unit: &str) -> fmt::Result {
    let line = format!("  {name:width$}{value:>10} {unit}", width = NAME - 2);
    writeln!(to, "{}", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let summary = TimeSummary::of(&times).unwrap();
        assert_eq!((summary.count, summary.p50_ms, summary.p95_ms), (200, 100.0, 190.0));
        assert_eq!((summary.p99_ms, summary.longest_ms), (198.0, 200.0));
        assert!(TimeSummary::of(&[]).is_none());
    }
}
