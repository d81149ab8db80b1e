//! A member of a group beside members of other clients: it prints what it reads.

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use futures_util::StreamExt;
use iggy::prelude::*;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

use crate::target::{TOPIC, Target};

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Name of the group.
    #[arg(long)]
    group: String,
}

/// A message that was read.
#[derive(Serialize)]
struct Read {
    partition: u32,
    offset: u64,
}

/// Prints `ready` once it has joined, and then a line of JSON for each message, whose offset it stores. It leaves when a
/// line comes on stdin, or stdin ends.
pub async fn run(options: &Options) -> Result<()> {
    let client = options.target.client().await?;
    let commit = AutoCommit {
        interval: None,
        every: Some(CommitEvery::Message),
        after: CommitAfter::Delivery,
    };
    let mut consumer = client
        .consumer_group(&options.group, &options.target.name, TOPIC)?
        .poll_options(PollOptions {
            commit: CommitPolicy::Auto(commit),
            ..PollOptions::wait(IggyDuration::new(Duration::from_millis(200)))
        })
        .build();
    consumer.init().await?;
    println!("ready");
    let mut lines = BufReader::new(stdin()).lines();
    loop {
        tokio::select! {
            _ = lines.next_line() => break,
            next = consumer.next() => match next {
                Some(Ok(message)) => println!("{}", serde_json::to_string(&Read {
                    partition: message.partition_id,
                    offset: message.message.header.offset,
                })?),
                Some(Err(error)) => bail!("{error:?}"),
                None => bail!("the end"),
            },
        }
    }
    consumer.shutdown().await?;
    client.shutdown().await?;
    Ok(())
}
