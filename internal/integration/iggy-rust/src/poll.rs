//! Polls of one partition.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::check::{messages, texts};
use crate::target::{TOPIC, Target};

pub async fn run(target: &Target) -> Result<()> {
    let client = target.with_topic(1).await?;
    let (stream, topic) = (target.stream()?, target.topic()?);
    let empty = poll(
        target,
        &client,
        &PollingStrategy::first(),
        PollOptions::default(),
    )
    .await?;
    ensure!(empty.messages.is_empty() && empty.count == 0);
    let partitioning = Partitioning::partition_id(0);
    client
        .send_messages(&stream, &topic, &partitioning, &mut messages("early", 20)?)
        .await?;
    tokio::time::sleep(Duration::from_millis(5)).await;
    let between = IggyTimestamp::now();
    client
        .send_messages(&stream, &topic, &partitioning, &mut messages("late", 10)?)
        .await?;
    starts(target, &client, between).await?;
    limits(target, &client).await?;
    waits(target, &client).await?;
    beyond(target, &client).await?;
    client.delete_stream(&stream).await?;
    client.shutdown().await?;
    Ok(())
}

async fn poll(
    target: &Target,
    client: &IggyClient,
    start: &PollingStrategy,
    options: PollOptions,
) -> Result<PolledMessages> {
    let (stream, topic) = (target.stream()?, target.topic()?);
    let consumer = Consumer::new(Identifier::named("poller")?);
    Ok(client
        .poll_messages(&stream, &topic, 0, &consumer, start, options)
        .await?)
}

/// All messages of a partition, from its beginning.
pub async fn poll_all(
    target: &Target,
    client: &IggyClient,
    topic: &str,
    partition: u32,
) -> Result<Vec<IggyMessage>> {
    let (stream, topic) = (target.stream()?, Identifier::named(topic)?);
    let mut all = Vec::new();
    let mut start = PollingStrategy::offset(0);
    loop {
        let polled = client
            .poll_messages(
                &stream,
                &topic,
                partition,
                &Consumer::default(),
                &start,
                PollOptions::default(),
            )
            .await
            .context("poll")?;
        let Some(last) = polled.messages.last() else {
            return Ok(all);
        };
        start = PollingStrategy::offset(last.header.offset + 1);
        all.extend(polled.messages);
    }
}

async fn starts(target: &Target, client: &IggyClient, between: IggyTimestamp) -> Result<()> {
    let few = PollOptions {
        count: 5,
        ..Default::default()
    };
    let cases = [
        ("first", PollingStrategy::first(), 0),
        ("last", PollingStrategy::last(), 25),
        ("offset", PollingStrategy::offset(7), 7),
        ("timestamp", PollingStrategy::timestamp(between), 20),
        ("next", PollingStrategy::next(), 0),
    ];
    for (name, start, offset) in cases {
        let got = poll(target, client, &start, few).await.context(name)?;
        let offsets: Vec<u64> = got.messages.iter().map(|m| m.header.offset).collect();
        let want: Vec<u64> = (offset..offset + 5).collect();
        ensure!(offsets == want, "{name}: {offsets:?}, want {want:?}");
        ensure!(
            got.current_offset == 29,
            "{name}: newest {}",
            got.current_offset
        );
        ensure!(got.count == 5 && got.partition_id == 0, "{name}");
    }
    let all = poll_all(target, client, TOPIC, 0).await?;
    let mut want = texts(&messages("early", 20)?);
    want.extend(texts(&messages("late", 10)?));
    ensure!(texts(&all) == want, "{:?}", texts(&all));
    Ok(())
}

/// A reply is no larger than asked for, but has one message at least.
async fn limits(target: &Target, client: &IggyClient) -> Result<()> {
    let small = PollOptions {
        max_bytes: 1024,
        ..Default::default()
    };
    let got = poll(target, client, &PollingStrategy::first(), small).await?;
    ensure!((1..30).contains(&got.count), "{} messages", got.count);
    let zero = PollOptions {
        count: 0,
        ..Default::default()
    };
    ensure!(
        poll(target, client, &PollingStrategy::first(), zero)
            .await
            .is_err(),
        "a poll of no messages"
    );
    Ok(())
}

/// A poll waits for a message that comes, and ends when none does.
async fn waits(target: &Target, client: &IggyClient) -> Result<()> {
    let begin = Instant::now();
    let short = PollOptions::wait(IggyDuration::new(Duration::from_millis(200)));
    let none = poll(target, client, &PollingStrategy::offset(30), short).await?;
    ensure!(none.messages.is_empty());
    ensure!(begin.elapsed() >= Duration::from_millis(150), "no wait");

    let sender = target.client().await?;
    let (stream, topic) = (target.stream()?, target.topic()?);
    let send = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        for text in ["awaited a", "awaited b"] {
            sender
                .send_messages(
                    &stream,
                    &topic,
                    &Partitioning::partition_id(0),
                    &mut messages(text, 1)?,
                )
                .await?;
        }
        anyhow::Ok(())
    };
    let long = PollOptions {
        min_count: 2,
        ..PollOptions::wait(IggyDuration::new(Duration::from_secs(20)))
    };
    let start = PollingStrategy::offset(30);
    let (got, sent) = tokio::join!(poll(target, client, &start, long), send);
    sent?;
    let got = texts(&got?.messages);
    ensure!(got == ["awaited a 0", "awaited b 0"], "{got:?}");
    ensure!(
        begin.elapsed() < Duration::from_secs(15),
        "the wait was not ended"
    );
    sender.shutdown().await?;
    Ok(())
}

/// Beyond the end there is nothing, and what is not there is an error.
async fn beyond(target: &Target, client: &IggyClient) -> Result<()> {
    let options = PollOptions::default();
    let got = poll(target, client, &PollingStrategy::offset(1000), options).await?;
    ensure!(got.messages.is_empty());
    let missing = client
        .poll_messages(
            &target.stream()?,
            &target.topic()?,
            9,
            &Consumer::default(),
            &PollingStrategy::first(),
            options,
        )
        .await;
    ensure!(missing.is_err(), "a partition that is not there is polled");
    Ok(())
}
