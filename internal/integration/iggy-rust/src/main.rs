//! Talks to an Iggy server with the published Rust SDK. Each subcommand is a scenario that checks one part of what a
//! server does; it says what is wrong on stderr and ends with status 1. `write` and `read` print messages, `bench`
//! measures.

mod background;
mod bench;
mod check;
mod consumer;
mod direct;
mod encryption;
mod group_admin;
mod groups;
mod idempotent;
mod line;
mod login;
mod member;
mod offsets;
mod partitions;
mod poll;
mod raw;
mod read;
mod refused;
mod restart;
mod sample;
mod streams;
mod system;
mod target;
mod tokens;
mod topics;
mod users;
mod write;

use clap::{Parser, Subcommand};
use target::Target;

#[derive(Parser)]
#[command(about = "Checks an Iggy server with the published Rust SDK")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Logs in in every way, and out.
    Login(Target),
    /// Asks what the server says of itself and its clients.
    System(Target),
    /// Makes, changes and removes users.
    Users(Target),
    /// Makes, uses and removes access tokens.
    Tokens(Target),
    /// Makes, changes and removes streams.
    Streams(Target),
    /// Makes, changes and removes topics, with options.
    Topics(Target),
    /// Adds and removes partitions and segments.
    Partitions(Target),
    /// Makes and removes groups.
    GroupAdmin(Target),
    /// Sends from the caller.
    Direct(Target),
    /// Sends from workers.
    Background(Target),
    /// Sends so that nothing is stored twice.
    Idempotent(Target),
    /// Polls one partition from every start.
    Poll(Target),
    /// Reads several partitions with one consumer, with each way to commit.
    Consumer(Target),
    /// Shares a topic between two members of a group.
    Groups(Target),
    /// Stores, reads and deletes offsets.
    Offsets(Target),
    /// Sends and reads what the server cannot read.
    Encryption(Target),
    /// Goes on after the server was away.
    Restart(restart::Options),
    /// Sends requests that the SDK does not build.
    Raw(Target),
    /// Checks what HTTP cannot do.
    Refused(Target),
    /// Sends the sample and prints it.
    Write(sample::Options),
    /// Polls a topic and prints what is there.
    Read(sample::Options),
    /// Reads as a member of a group, and prints what it reads.
    Member(member::Options),
    /// Sends and polls as fast as possible, and prints how fast that was.
    Bench(bench::Options),
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Login(target) => login::run(&target).await,
        Command::System(target) => system::run(&target).await,
        Command::Users(target) => users::run(&target).await,
        Command::Tokens(target) => tokens::run(&target).await,
        Command::Streams(target) => streams::run(&target).await,
        Command::Topics(target) => topics::run(&target).await,
        Command::Partitions(target) => partitions::run(&target).await,
        Command::GroupAdmin(target) => group_admin::run(&target).await,
        Command::Direct(target) => direct::run(&target).await,
        Command::Background(target) => background::run(&target).await,
        Command::Idempotent(target) => idempotent::run(&target).await,
        Command::Poll(target) => poll::run(&target).await,
        Command::Consumer(target) => consumer::run(&target).await,
        Command::Groups(target) => groups::run(&target).await,
        Command::Offsets(target) => offsets::run(&target).await,
        Command::Encryption(target) => encryption::run(&target).await,
        Command::Restart(options) => restart::run(&options).await,
        Command::Raw(target) => raw::run(&target).await,
        Command::Refused(target) => refused::run(&target).await,
        Command::Write(options) => write::run(&options).await,
        Command::Read(options) => read::run(&options).await,
        Command::Member(options) => member::run(&options).await,
        Command::Bench(options) => bench::run(&options).await,
    }
}
