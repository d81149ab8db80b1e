//! Sends the sample and prints each message with the place that it got.

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::line::Line;
use crate::sample::{KEYS, Options, batch, keyed};

const PARTITIONS: u32 = 3;

pub async fn run(options: &Options) -> Result<()> {
    let client = options.client().await?;
    options.target.create_topic(&client, PARTITIONS).await?;
    let to = Partitioning::partition_id(0);
    send(options, &client, &to, batch(options.limits())?, None).await?;
    for (i, key) in KEYS.into_iter().enumerate() {
        let to = Partitioning::messages_key_str(key)?;
        send(
            options,
            &client,
            &to,
            vec![keyed(i, options.limits())?],
            Some(key),
        )
        .await?;
    }
    client.shutdown().await?;
    Ok(())
}

async fn send(
    options: &Options,
    client: &IggyClient,
    to: &Partitioning,
    mut messages: Vec<IggyMessage>,
    key: Option<&str>,
) -> Result<()> {
    // Encryption takes place in the messages themselves.
    let lines: Result<Vec<Line>> = messages.iter().map(Line::new).collect();
    let sent = client
        .send_messages(
            &options.target.stream()?,
            &options.target.topic()?,
            to,
            &mut messages,
        )
        .await?;
    ensure!(sent.confirmations.len() == 1, "{sent:?}");
    let place = sent.confirmations.first().context("no place")?;
    for (i, mut line) in lines?.into_iter().enumerate() {
        line.partition = place.partition_id;
        line.offset = place.base_offset + i as u64;
        line.key = key.map(str::to_owned);
        line.print()?;
    }
    Ok(())
}
