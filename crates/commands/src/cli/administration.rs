//! Options of the commands for looking after a server.

use clap::{ArgGroup, Args, ValueEnum};

use copydesk_macros::names;

use super::{EXIT_CODES, ServerArgs};

/// Options of `copydesk spending`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
#[command(group(ArgGroup::new("whose").requires("limit")))]
pub struct SpendingArgs {
    /// Month to show, such as 2026-11 [default: this one, in UTC]
    #[arg(long, value_name = "MONTH", conflicts_with = "limit")]
    pub month: Option<String>,
    /// Set a limit of a calendar month in US dollars, or remove it with `none`
    #[arg(long, value_name = "USD", requires = "whose")]
    pub limit: Option<String>,
    /// Limit for the whole server
    #[arg(long, group = "whose")]
    pub whole_server: bool,
    /// Limit for each person who has no limit of their own
    #[arg(long, group = "whose")]
    pub everyone: bool,
    /// Limit for one person, by their identifier
    #[arg(long, value_name = "ID", group = "whose")]
    pub person: Option<String>,
    /// Limit for one document
    #[arg(long, value_name = "ID", group = "whose")]
    pub document: Option<String>,
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `copydesk share`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
#[command(group(ArgGroup::new("whom")))]
#[command(group(ArgGroup::new("change").requires("whom")))]
pub struct ShareArgs {
    /// Document to share; without other options, who was given a role in it is listed
    #[arg(value_name = "DOCUMENT")]
    pub document: String,
    /// Person who has signed in, by the identifier of their login
    #[arg(long, value_name = "ID", group = "whom", requires = "change")]
    pub login: Option<String>,
    /// Person by their mail address, also before they sign in
    #[arg(long, value_name = "ADDRESS", group = "whom", requires = "change")]
    pub email: Option<String>,
    /// Group of the identity provider
    #[arg(long, value_name = "NAME", group = "whom", requires = "change")]
    pub group: Option<String>,
    /// Role to give them in the document
    #[arg(long, value_enum, group = "change")]
    pub role: Option<DocumentRoleArg>,
    /// Take their role in the document
    #[arg(long, group = "change")]
    pub remove: bool,
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `copydesk person`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct PersonArgs {
    /// Person, by an identifier, or by the mail address of a login [default: everybody is listed]
    #[arg(value_name = "PERSON")]
    pub person: Option<String>,
    /// Delete the person's data. This cannot be undone
    #[arg(long, requires = "person")]
    pub delete: bool,
    /// Delete the documents that only this person can see, too
    #[arg(long, requires = "delete")]
    pub private_documents: bool,
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Role in one document on the command line.
#[names(ValueEnum, lowercase)]
pub enum DocumentRoleArg {
    /// May write, ask and decide
    Editor,
    /// May read and decide
    Reviewer,
    /// May read, comment and suggest
    Suggester,
    /// May read
    Viewer,
}
