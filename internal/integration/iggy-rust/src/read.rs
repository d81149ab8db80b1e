//! Polls every partition of a topic from its beginning, and prints what is there.

use anyhow::{Context, Result};
use iggy::prelude::*;

use crate::line::Line;
use crate::poll::poll_all;
use crate::sample::Options;
use crate::target::TOPIC;

pub async fn run(options: &Options) -> Result<()> {
    let client = options.client().await?;
    let topic = client
        .get_topic(&options.target.stream()?, &options.target.topic()?)
        .await?
        .context("no topic")?;
    for partition in topic.partitions {
        for message in poll_all(&options.target, &client, TOPIC, partition.id).await? {
            let mut line = Line::new(&message)?;
            line.partition = partition.id;
            line.print()?;
        }
    }
    client.shutdown().await?;
    Ok(())
}
