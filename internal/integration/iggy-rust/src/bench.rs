//! How fast the SDK sends and polls, by single requests and by its producer and consumer.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use clap::{Args, ValueEnum};
use futures_util::StreamExt;
use iggy::prelude::*;
use serde::Serialize;

use crate::target::{TOPIC, Target};

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Number of messages.
    #[arg(long, default_value_t = 1_000_000)]
    messages: u32,
    /// Bytes of a payload.
    #[arg(long, default_value_t = 100)]
    size: usize,
    /// Messages of one request.
    #[arg(long, default_value_t = 1000)]
    batch: u32,
    /// What is measured.
    #[arg(long, value_enum, default_value_t = What::Requests)]
    what: What,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum What {
    /// Requests: sends, and polls of what was sent.
    Requests,
    /// A producer that sends from its caller, a batch a call.
    Direct,
    /// A producer that sends from a worker, a batch a call, until all is written.
    Background,
    /// A producer that sends from a worker, a message a call.
    Single,
    /// A consumer that reads four partitions as the one member of a group.
    Group,
}

/// Messages per second.
#[derive(Serialize)]
struct Speeds {
    messages: u32,
    size: usize,
    batch: u32,
    send: f64,
    poll: f64,
}

/// The partitions of a topic that a group reads.
const GROUP_PARTITIONS: u32 = 4;

pub async fn run(options: &Options) -> Result<()> {
    ensure!(
        options.messages.is_multiple_of(options.batch),
        "a part of a batch is left"
    );
    let partitions = if options.what == What::Group {
        GROUP_PARTITIONS
    } else {
        1
    };
    let client = options.target.with_topic(partitions).await?;
    let mut speeds = Speeds {
        messages: options.messages,
        size: options.size,
        batch: options.batch,
        send: 0.0,
        poll: 0.0,
    };
    match options.what {
        What::Requests => {
            speeds.send = send(options, &client).await.context("send")?;
            speeds.poll = poll(options, &client).await.context("poll")?;
        }
        What::Group => {
            fill(options, &client).await.context("send")?;
            speeds.poll = group(options, &client).await.context("group")?;
        }
        _ => speeds.send = produce(options, &client).await.context("produce")?,
    }
    println!("{}", serde_json::to_string(&speeds)?);
    client.delete_stream(&options.target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

/// Sends one batch after the other. The messages are built once: only sending them is measured.
async fn send(options: &Options, client: &IggyClient) -> Result<f64> {
    let (stream, topic) = (options.target.stream()?, options.target.topic()?);
    let to = Partitioning::partition_id(0);
    let payload = Bytes::from(vec![7; options.size]);
    let mut batch = (0..options.batch)
        .map(|_| IggyMessage::builder().payload(payload.clone()).build())
        .collect::<Result<Vec<_>, _>>()?;
    let begin = Instant::now();
    for _ in 0..options.messages / options.batch {
        client
            .send_messages(&stream, &topic, &to, &mut batch)
            .await?;
    }
    Ok(f64::from(options.messages) / begin.elapsed().as_secs_f64())
}

/// Polls one batch after the other.
async fn poll(options: &Options, client: &IggyClient) -> Result<f64> {
    let (stream, topic) = (options.target.stream()?, options.target.topic()?);
    let consumer = Consumer::default();
    let poll = PollOptions {
        count: options.batch,
        max_bytes: 16 * 1024 * 1024,
        ..Default::default()
    };
    let mut next = 0;
    let begin = Instant::now();
    while next < u64::from(options.messages) {
        let start = PollingStrategy::offset(next);
        let polled = client
            .poll_messages(&stream, &topic, 0, &consumer, &start, poll)
            .await?;
        ensure!(!polled.messages.is_empty(), "nothing at {next}");
        next += polled.messages.len() as u64;
    }
    Ok(f64::from(options.messages) / begin.elapsed().as_secs_f64())
}

/// Sends by a producer. Each call gets messages of its own, as the SDK takes them away; payloads are shared.
async fn produce(options: &Options, client: &IggyClient) -> Result<f64> {
    let builder = client
        .producer(&options.target.name, TOPIC)?
        .partitioning(Partitioning::partition_id(0));
    let batch_length = options.batch as usize;
    let builder = match options.what {
        What::Direct => builder.direct(DirectConfig::builder().batch_length(options.batch).build()),
        What::Single => builder.background(
            BackgroundConfig::builder()
                .batch_length(batch_length)
                .build(),
        ),
        _ => builder.background(BackgroundConfig::builder().build()),
    };
    let producer = builder.build();
    producer.init().await?;
    let payload = Bytes::from(vec![7; options.size]);
    let make = || IggyMessage::builder().payload(payload.clone()).build();
    let begin = Instant::now();
    if options.what == What::Single {
        for _ in 0..options.messages {
            producer.send_one(make()?).await?;
        }
    } else {
        for _ in 0..options.messages / options.batch {
            let batch = (0..options.batch)
                .map(|_| make())
                .collect::<Result<Vec<_>, _>>()?;
            producer.send(batch).await?;
        }
    }
    producer.shutdown().await;
    Ok(f64::from(options.messages) / begin.elapsed().as_secs_f64())
}

/// Sends as many messages to each partition.
async fn fill(options: &Options, client: &IggyClient) -> Result<()> {
    let (stream, topic) = (options.target.stream()?, options.target.topic()?);
    let payload = Bytes::from(vec![7; options.size]);
    let mut batch = (0..options.batch)
        .map(|_| IggyMessage::builder().payload(payload.clone()).build())
        .collect::<Result<Vec<_>, _>>()?;
    for i in 0..options.messages / options.batch {
        let to = Partitioning::partition_id(i % GROUP_PARTITIONS);
        client
            .send_messages(&stream, &topic, &to, &mut batch)
            .await?;
    }
    Ok(())
}

/// Reads everything as the one member of a group that stores no offsets.
async fn group(options: &Options, client: &IggyClient) -> Result<f64> {
    let mut consumer = client
        .consumer_group("speed", &options.target.name, TOPIC)?
        .build();
    let begin = Instant::now();
    consumer.init().await?;
    let mut count = 0;
    while count < options.messages {
        let message = consumer.next().await.context("the end")?;
        let message = message.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        ensure!(
            message.message.payload.len() == options.size,
            "another size"
        );
        count += 1;
    }
    let speed = f64::from(options.messages) / begin.elapsed().as_secs_f64();
    consumer.shutdown().await?;
    Ok(speed)
}
