//! `copydesk doctor`: what is missing, wrong or slow on this machine, and how to mend it. The
//! probes ask the machine and the services; the findings are made of their answers, as values.

mod findings;
mod machine;
mod proxy;
mod services;

use anyhow::Result;

use super::{CommandOutcome, say};
use crate::cli::DoctorArgs;
use crate::config::ServerConfig;
use findings::{DoctorFinding, DoctorReport, FindingState};

pub(super) async fn run(args: DoctorArgs) -> Result<CommandOutcome> {
    let findings = match ServerConfig::load(args.serve) {
        Ok(config) => examine(&config, args.url.as_deref()).await,
        Err(error) => {
            let text = super::error_text(&error.into());
            vec![DoctorFinding::wrong("options", text, "see docs/configuration.md")]
        }
    };
    let report = DoctorReport { findings };
    if args.json {
        say(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        say(&report.to_string())?;
    }
    let is_wrong = report.findings.iter().any(|it| it.state == FindingState::Wrong);
    Ok(if is_wrong { CommandOutcome::Findings } else { CommandOutcome::Fine })
}

/// Examines the machine, the services and the proxy, one after the other.
async fn examine(config: &ServerConfig, url: Option<&str>) -> Vec<DoctorFinding> {
    let mut findings = vec![machine::port(config).await];
    findings.extend(machine::data_folder(&config.data).await);
    findings.push(findings::open_files(machine::open_file_limit()));
    findings.extend(machine::named_files(config).await);
    findings.extend(services::database(config).await);
    findings.extend(services::redis(config).await);
    findings.extend(services::models(config).await);
    if let Some(url) = url {
        findings.extend(proxy::examine(config, url).await);
    }
    findings
}
