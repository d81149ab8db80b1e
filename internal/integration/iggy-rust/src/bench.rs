//! How fast the SDK sends and polls.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use clap::Args;
use iggy::prelude::*;
use serde::Serialize;

use crate::target::Target;

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

pub async fn run(options: &Options) -> Result<()> {
    ensure!(
        options.messages.is_multiple_of(options.batch),
        "a part of a batch is left"
    );
    let client = options.target.with_topic(1).await?;
    let speeds = Speeds {
        messages: options.messages,
        size: options.size,
        batch: options.batch,
        send: send(options, &client).await.context("send")?,
        poll: poll(options, &client).await.context("poll")?,
    };
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
