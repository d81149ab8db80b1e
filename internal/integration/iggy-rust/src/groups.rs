//! Two members share a topic: nothing is missing, nothing is read by both, and partitions move when a member leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures_util::StreamExt;
use iggy::prelude::*;

use crate::check::messages;
use crate::target::{TOPIC, Target};

const PARTITIONS: u32 = 4;
const GROUP: &str = "readers";

pub async fn run(target: &Target) -> Result<()> {
    let admin = target.with_topic(PARTITIONS).await?;
    let clients = [target.client().await?, target.client().await?];
    let mut first = member(target, &clients[0])?;
    first.init().await.context("first member")?;
    let mut second = member(target, &clients[1])?;
    second.init().await.context("second member")?;
    shared(target, &admin, &clients).await?;

    send(target, &admin, "both", 25).await?;
    let mut seen = Seen::default();
    read_both(&mut first, &mut second, &mut seen, 100).await?;
    ensure!(seen.twice == 0, "{} messages were read twice", seen.twice);
    let [one, two] = &seen.partitions;
    ensure!(one.is_disjoint(two), "{one:?} and {two:?}");
    ensure!(one.len() == 2 && two.len() == 2, "{one:?} and {two:?}");

    second.shutdown().await.context("second member leaves")?;
    send(target, &admin, "left", 25).await?;
    let mut left = Seen::default();
    read_one(&mut first, &mut left, 100).await?;
    ensure!(
        left.partitions[0].len() == PARTITIONS as usize,
        "{:?}",
        left.partitions
    );
    first.shutdown().await?;
    committed(target, &admin).await?;

    for client in clients {
        client.shutdown().await?;
    }
    admin.delete_stream(&target.stream()?).await?;
    admin.shutdown().await?;
    Ok(())
}

fn member(target: &Target, client: &IggyClient) -> Result<IggyConsumer> {
    let commit = AutoCommit {
        interval: None,
        every: Some(CommitEvery::Message),
        after: CommitAfter::Delivery,
    };
    Ok(client
        .consumer_group(GROUP, &target.name, TOPIC)?
        .poll_options(PollOptions {
            commit: CommitPolicy::Auto(commit),
            ..PollOptions::wait(IggyDuration::ONE_SECOND)
        })
        .build())
}

/// Waits until each member has half of the partitions, as the first one learns of the second.
async fn shared(target: &Target, admin: &IggyClient, clients: &[IggyClient]) -> Result<()> {
    let (stream, topic) = (target.stream()?, target.topic()?);
    let id = Identifier::named(GROUP)?;
    for _ in 0..100 {
        let mut counts = Vec::new();
        for client in clients {
            let assigned = client.sync_consumer_group(&stream, &topic, &id).await?;
            counts.push(assigned.context("no member")?.partitions.len());
        }
        if counts == [2, 2] {
            let group = admin.get_consumer_group(&stream, &topic, &id).await?;
            let group = group.context("no group")?;
            ensure!(group.members_count == 2, "{group:?}");
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("the partitions were not shared")
}

async fn send(target: &Target, client: &IggyClient, word: &str, each: usize) -> Result<()> {
    for partition in 0..PARTITIONS {
        client
            .send_messages(
                &target.stream()?,
                &target.topic()?,
                &Partitioning::partition_id(partition),
                &mut messages(word, each)?,
            )
            .await?;
    }
    Ok(())
}

/// What two members have read.
#[derive(Default)]
struct Seen {
    offsets: BTreeMap<u32, BTreeSet<u64>>,
    partitions: [BTreeSet<u32>; 2],
    count: usize,
    twice: usize,
}

impl Seen {
    fn note(
        &mut self,
        member: usize,
        got: Option<Result<ReceivedMessage, ReadError>>,
    ) -> Result<()> {
        let received = match got.context("the consumer ended")? {
            Ok(received) => received,
            Err(error) => bail!("member {member}: {error:?}"),
        };
        self.partitions[member].insert(received.partition_id);
        let offsets = self.offsets.entry(received.partition_id).or_default();
        if offsets.insert(received.message.header.offset) {
            self.count += 1;
        } else {
            self.twice += 1;
        }
        Ok(())
    }
}

async fn read_both(
    first: &mut IggyConsumer,
    second: &mut IggyConsumer,
    seen: &mut Seen,
    count: usize,
) -> Result<()> {
    while seen.count < count {
        tokio::select! {
            got = first.next() => seen.note(0, got)?,
            got = second.next() => seen.note(1, got)?,
            () = tokio::time::sleep(Duration::from_secs(30)) => {
                bail!("{} of {count} messages: {:?}", seen.count, seen.partitions)
            }
        }
    }
    Ok(())
}

async fn read_one(consumer: &mut IggyConsumer, seen: &mut Seen, count: usize) -> Result<()> {
    while seen.count < count {
        let next = tokio::time::timeout(Duration::from_secs(30), consumer.next());
        match next.await {
            Ok(got) => seen.note(0, got)?,
            Err(_) => bail!("{} of {count} messages: {:?}", seen.count, seen.partitions),
        }
    }
    Ok(())
}

/// The offsets of a group outlive its members.
async fn committed(target: &Target, admin: &IggyClient) -> Result<()> {
    let (stream, topic) = (target.stream()?, target.topic()?);
    let id = Identifier::named(GROUP)?;
    let group = admin.get_consumer_group(&stream, &topic, &id).await?;
    let group = group.context("no group")?;
    ensure!(group.members_count == 0, "{group:?}");
    let client = target.client().await?;
    let mut late = member(target, &client)?;
    late.init().await?;
    let quiet = tokio::time::timeout(Duration::from_millis(1500), late.next()).await;
    ensure!(
        quiet.is_err(),
        "read again: {:?}",
        quiet.map(|got| got.is_some())
    );
    late.shutdown().await?;
    client.shutdown().await?;
    Ok(())
}
