//! A consumer that reads several partitions with one request, with each way to commit.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures_util::StreamExt;
use iggy::prelude::*;

use crate::check::messages;
use crate::target::{TOPIC, Target};

const PARTITIONS: u32 = 3;
const EACH: usize = 20;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.with_topic(PARTITIONS).await?;
    for partition in 0..PARTITIONS {
        client
            .send_messages(
                &target.stream()?,
                &target.topic()?,
                &Partitioning::partition_id(partition),
                &mut messages(&format!("partition {partition}"), EACH)?,
            )
            .await?;
    }
    manual(target, &client).await?;
    automatic(target, &client).await?;
    on_read(target, &client).await?;
    seek(target, &client).await?;
    client.delete_stream(&target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

/// Takes a number of messages; fails if they do not come.
pub async fn take(consumer: &mut IggyConsumer, count: usize) -> Result<Vec<ReceivedMessage>> {
    let mut got = Vec::new();
    while got.len() < count {
        let next = tokio::time::timeout(Duration::from_secs(30), consumer.next());
        match next.await {
            Ok(Some(Ok(message))) => got.push(message),
            Ok(Some(Err(error))) => bail!("message {}: {error:?}", got.len()),
            Ok(None) => bail!("the end after {} of {count} messages", got.len()),
            Err(_) => bail!("{} of {count} messages in time", got.len()),
        }
    }
    Ok(got)
}

fn build(
    client: &IggyClient,
    target: &Target,
    name: &str,
    commit: CommitPolicy,
) -> Result<IggyConsumer> {
    Ok(client
        .consumer(name, &target.name, TOPIC)?
        .partitions(0..PARTITIONS)
        .poll_options(PollOptions {
            commit,
            ..PollOptions::wait(IggyDuration::ONE_SECOND)
        })
        .build())
}

/// The offset that a consumer has stored for a partition.
async fn stored(
    target: &Target,
    client: &IggyClient,
    name: &str,
    partition: u32,
) -> Result<Option<u64>> {
    let consumer = Consumer::new(Identifier::named(name)?);
    let info = client
        .get_consumer_offset(
            &consumer,
            &target.stream()?,
            &target.topic()?,
            Some(partition),
        )
        .await?;
    Ok(info.map(|info| info.stored_offset))
}

/// Each partition is read in order; what was committed is not read again.
async fn manual(target: &Target, client: &IggyClient) -> Result<()> {
    let mut consumer = build(client, target, "manual", CommitPolicy::Manual)?;
    consumer.init().await.context("init")?;
    let total = PARTITIONS as usize * EACH;
    let mut next = [0; PARTITIONS as usize];
    for received in take(&mut consumer, total).await? {
        let expected = &mut next[received.partition_id as usize];
        ensure!(received.message.header.offset == *expected, "not in order");
        *expected += 1;
        if *expected <= EACH as u64 / 2 {
            consumer
                .commit(received.checkpoint())
                .await
                .context("commit")?;
        }
    }
    consumer.shutdown().await?;
    for partition in 0..PARTITIONS {
        let stored = stored(target, client, "manual", partition).await?;
        ensure!(stored == Some(EACH as u64 / 2 - 1), "{stored:?}");
    }
    let mut again = build(client, target, "manual", CommitPolicy::Manual)?;
    again.init().await?;
    for received in take(&mut again, total / 2).await? {
        ensure!(
            received.message.header.offset >= EACH as u64 / 2,
            "read again"
        );
    }
    again.shutdown().await?;
    Ok(())
}

/// What was processed is committed at the end at the latest.
async fn automatic(target: &Target, client: &IggyClient) -> Result<()> {
    let policy = CommitPolicy::Auto(AutoCommit::default());
    let mut consumer = build(client, target, "automatic", policy)?;
    consumer.init().await?;
    take(&mut consumer, PARTITIONS as usize * EACH).await?;
    consumer.shutdown().await?;
    for partition in 0..PARTITIONS {
        let stored = stored(target, client, "automatic", partition).await?;
        ensure!(stored == Some(EACH as u64 - 1), "{stored:?}");
    }
    Ok(())
}

/// The server commits what it hands out; at the end that goes back to what was delivered.
async fn on_read(target: &Target, client: &IggyClient) -> Result<()> {
    let mut consumer = client
        .consumer("on-read", &target.name, TOPIC)?
        .partitions([0])
        .poll_options(PollOptions {
            count: 10,
            commit: CommitPolicy::OnRead,
            ..PollOptions::wait(IggyDuration::ONE_SECOND)
        })
        .build();
    consumer.init().await?;
    take(&mut consumer, 3).await?;
    let ahead = stored(target, client, "on-read", 0).await?;
    ensure!(ahead >= Some(9), "stored {ahead:?}");
    consumer.shutdown().await.context("shutdown")?;
    let back = stored(target, client, "on-read", 0).await?;
    ensure!(back == Some(2), "stored {back:?} after the third message");
    Ok(())
}

/// A consumer can go to another place of a partition.
async fn seek(target: &Target, client: &IggyClient) -> Result<()> {
    let mut consumer = build(client, target, "seeker", CommitPolicy::Manual)?;
    consumer.init().await?;
    take(&mut consumer, PARTITIONS as usize * EACH).await?;
    consumer
        .seek(1, PollingStrategy::offset(5))
        .await
        .context("seek")?;
    let again = take(&mut consumer, EACH - 5).await?;
    let partitions: BTreeSet<u32> = again.iter().map(|r| r.partition_id).collect();
    ensure!(partitions == BTreeSet::from([1]), "{partitions:?}");
    ensure!(
        again[0].message.header.offset == 5,
        "{:?}",
        again[0].message
    );
    consumer.shutdown().await?;
    Ok(())
}
