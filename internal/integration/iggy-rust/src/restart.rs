//! A client that goes on after the server was away. The program prints `ready` and waits for a line on stdin: whoever
//! started it lets happen to the server what the mode says.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use iggy::prelude::*;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

use crate::check::{messages, texts};
use crate::consumer::take;
use crate::poll::poll_all;
use crate::target::{TOPIC, Target};

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// What happens while the program waits.
    #[arg(long)]
    mode: Mode,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Mode {
    /// Something happens to the next send, such as the end of its connection, which the client gets over.
    Cut,
    /// The connection ends before the next send is stored, and the session with it.
    Lost,
    /// The connection ends behind the next send, which is stored, and the session with it: an idempotent producer knows
    /// what became of it.
    Idempotent,
    /// The server starts again and knows nothing.
    Empty,
    /// The server starts again with its data, but without sessions.
    Kept,
}

const GROUP: &str = "survivors";

pub async fn run(options: &Options) -> Result<()> {
    let target = &options.target;
    let client = target.with_topic(1).await?;
    send(target, &client, "before", 10).await.context("send")?;
    store(target, &client, 4).await.context("store")?;
    let mut member = member(target, &client).await?;
    let producer = match options.mode {
        Mode::Idempotent => Some(idempotent_producer(target, &client).await?),
        _ => None,
    };
    pause().await?;
    match options.mode {
        Mode::Cut => cut(target, &client).await,
        Mode::Lost => lost(target, &client).await,
        Mode::Idempotent => idempotent(target, &client, producer).await,
        Mode::Empty => empty(target, &client).await,
        Mode::Kept => kept(target, &client, member.as_mut()).await,
    }?;
    if let Some(mut member) = member {
        // What it was a member of may be gone.
        let left = member.shutdown().await;
        ensure!(left.is_ok() || options.mode == Mode::Empty, "{left:?}");
    }
    client.shutdown().await?;
    Ok(())
}

/// Says that the server may go, and waits until it is back.
async fn pause() -> Result<()> {
    println!("ready");
    let mut line = String::new();
    let read = BufReader::new(stdin()).read_line(&mut line).await?;
    ensure!(read > 0, "stdin ended");
    Ok(())
}

async fn send(target: &Target, client: &IggyClient, word: &str, count: usize) -> Result<()> {
    client
        .send_messages(
            &target.stream()?,
            &target.topic()?,
            &Partitioning::partition_id(0),
            &mut messages(word, count)?,
        )
        .await?;
    Ok(())
}

async fn store(target: &Target, client: &IggyClient, offset: u64) -> Result<()> {
    let consumer = Consumer::new(Identifier::named("reader")?);
    client
        .store_consumer_offset(
            &consumer,
            &target.stream()?,
            &target.topic()?,
            Some(0),
            offset,
        )
        .await?;
    Ok(())
}

/// A member of a group that has read and committed all there is, where there are groups.
async fn member(target: &Target, client: &IggyClient) -> Result<Option<IggyConsumer>> {
    if target.over_http() {
        return Ok(None);
    }
    let commit = AutoCommit {
        interval: None,
        every: Some(CommitEvery::Message),
        after: CommitAfter::Delivery,
    };
    let mut member = client
        .consumer_group(GROUP, &target.name, TOPIC)?
        .poll_options(PollOptions {
            commit: CommitPolicy::Auto(commit),
            ..PollOptions::wait(IggyDuration::ONE_SECOND)
        })
        .build();
    member.init().await.context("init of the member")?;
    take(&mut member, 10).await.context("before the restart")?;
    let stored = async {
        while member.get_last_stored_offset(0) != Some(9) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), stored)
        .await
        .context("what was read is not committed")?;
    Ok(Some(member))
}

/// A send is stored once, whatever the client has to do for it.
async fn cut(target: &Target, client: &IggyClient) -> Result<()> {
    send(target, client, "cut", 5).await.context("send")?;
    send(target, client, "after", 5).await?;
    let got = texts(&poll_all(target, client, TOPIC, 0).await?);
    let mut want = texts(&messages("before", 10)?);
    want.extend(texts(&messages("cut", 5)?));
    want.extend(texts(&messages("after", 5)?));
    ensure!(got == want, "{got:?}");
    Ok(())
}

/// A client that has lost its session cannot prove what became of a send: it says so, and goes on.
async fn lost(target: &Target, client: &IggyClient) -> Result<()> {
    let sent = send(target, client, "lost", 5).await;
    let error = sent.err().context("a lost send succeeds")?;
    let error = error.downcast::<IggyError>()?;
    let IggyError::OperationUncertain(op) = error else {
        bail!("a lost send fails with {error}");
    };
    let abandoned = client.abandon_operation(op).await;
    ensure!(
        abandoned.is_ok() || abandoned == Err(IggyError::OperationNotRetained(op)),
        "{abandoned:?}"
    );
    send(target, client, "after", 5).await?;
    let got = texts(&poll_all(target, client, TOPIC, 0).await?);
    let mut want = texts(&messages("before", 10)?);
    want.extend(texts(&messages("after", 5)?));
    ensure!(got == want, "{got:?}");
    Ok(())
}

async fn idempotent_producer(target: &Target, client: &IggyClient) -> Result<IggyProducer> {
    let producer = client
        .producer(&target.name, TOPIC)?
        .partitioning(Partitioning::partition_id(0))
        .idempotent()
        .build();
    producer.init().await.context("init of the producer")?;
    producer.send(messages("first", 5)?).await?;
    Ok(producer)
}

/// What an idempotent producer sends again over a new session is not stored again.
async fn idempotent(
    target: &Target,
    client: &IggyClient,
    producer: Option<IggyProducer>,
) -> Result<()> {
    let producer = producer.context("no producer")?;
    producer.send(messages("once", 5)?).await.context("send")?;
    producer.send(messages("after", 5)?).await?;
    let got = texts(&poll_all(target, client, TOPIC, 0).await?);
    let mut want = texts(&messages("before", 10)?);
    for word in ["first", "once", "after"] {
        want.extend(texts(&messages(word, 5)?));
    }
    ensure!(got == want, "{got:?}");
    Ok(())
}

/// A client finds a server that is new, and begins again.
async fn empty(target: &Target, client: &IggyClient) -> Result<()> {
    back(target, client).await?;
    ensure!(client.get_stream(&target.stream()?).await?.is_none());
    target.create_topic(client, 1).await?;
    send(target, client, "again", 10).await?;
    let got = poll_all(target, client, TOPIC, 0).await?;
    ensure!(texts(&got) == texts(&messages("again", 10)?));
    Ok(())
}

/// A client finds what was stored, and goes on behind it.
async fn kept(
    target: &Target,
    client: &IggyClient,
    member: Option<&mut IggyConsumer>,
) -> Result<()> {
    back(target, client).await?;
    let consumer = Consumer::new(Identifier::named("reader")?);
    let offset = client
        .get_consumer_offset(&consumer, &target.stream()?, &target.topic()?, Some(0))
        .await?
        .context("the offset is gone")?;
    ensure!(offset.stored_offset == 4, "{offset:?}");
    send(target, client, "after", 10).await?;
    let got = texts(&poll_all(target, client, TOPIC, 0).await?);
    let mut want = texts(&messages("before", 10)?);
    want.extend(texts(&messages("after", 10)?));
    ensure!(got == want, "{got:?}");
    if let Some(member) = member {
        let read = take(member, 10).await.context("the member goes on")?;
        let first = read[0].message.header.offset;
        ensure!(first == 10, "the member goes on at {first}");
    }
    Ok(())
}

/// Waits until the client is logged in again. A call does not wait for a lost link, so calls fail meanwhile.
async fn back(target: &Target, client: &IggyClient) -> Result<()> {
    let mut last = None;
    for _ in 0..150 {
        if target.over_http() {
            let (user, password) = target.credentials()?;
            last = client.login_user(user, password).await.err();
        } else {
            last = client.get_streams().await.err();
        }
        if last.is_none() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bail!("the client does not come back: {last:?}")
}
