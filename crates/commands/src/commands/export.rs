//! `copydesk export`: a document from the data directory or the database.

use anyhow::{Context as _, Result};

use super::output::write_out;
use super::stored_data::visit;
use crate::cli::ExportArgs;
use copydesk_api::export_input;
use copydesk_ids::DocumentId;
use copydesk_rooms::ExportSnapshot;

pub(super) async fn run(args: ExportArgs) -> Result<()> {
    let store = visit(args.data, args.database_url).await?;
    let id = DocumentId::from(args.document);
    let exported = async {
        let snapshot = ExportSnapshot::stored(&store, &id).await?;
        export_input(&store, &id, snapshot, args.format.into()).await
    };
    let manuscript = exported.await;
    store.close().await;
    let manuscript = manuscript.with_context(|| format!("cannot export {id}"))?;
    let content = manuscript.export(args.format.into())?;
    write_out(args.out.as_deref(), &content).await
}
