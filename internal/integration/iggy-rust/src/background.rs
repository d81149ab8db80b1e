//! A producer that hands messages to workers.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use iggy::clients::producer_config::BackpressureMode;
use iggy::prelude::*;

use crate::check::{message, texts};
use crate::poll::poll_all;
use crate::target::{TOPIC, Target};

const SENDS: usize = 300;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.with_topic(1).await?;
    ordered(target, &client).await?;
    several_workers(target, &client).await?;
    client.delete_stream(&target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

/// One worker keeps the order of the calls, and the end waits for all of them.
async fn ordered(target: &Target, client: &IggyClient) -> Result<()> {
    let config = BackgroundConfig::builder()
        .batch_length(50)
        .linger_time(IggyDuration::new(Duration::from_millis(5)))
        .build();
    let producer = client
        .producer(&target.name, TOPIC)?
        .partitioning(Partitioning::partition_id(0))
        .background(config)
        .build();
    producer.init().await.context("init")?;
    let mut want = Vec::new();
    for i in 0..SENDS {
        let text = format!("background {i}");
        let sent = producer.send_one(message(&text)?).await?;
        ensure!(sent.confirmations.is_empty(), "{sent:?}");
        want.push(text);
    }
    producer.shutdown().await;
    let got = poll_all(target, client, TOPIC, 0).await?;
    ensure!(
        texts(&got) == want,
        "{} messages, or another order",
        got.len()
    );
    Ok(())
}

/// Several workers lose the order, and no message.
async fn several_workers(target: &Target, client: &IggyClient) -> Result<()> {
    let stream = target.stream()?;
    let topic = "workers";
    client
        .create_topic(&stream, topic, &TopicCreateOptions::default())
        .await?;
    let config = BackgroundConfig::builder()
        .num_shards(4)
        .sharding(Box::new(BalancedSharding::default()))
        .max_in_flight(4)
        .max_buffer_size(IggyByteSize::from(64 * 1024))
        .failure_mode(BackpressureMode::Block)
        .build();
    let producer = client
        .producer(&target.name, topic)?
        .background(config)
        .build();
    producer.init().await?;
    let producer = Arc::new(producer);
    let mut callers = Vec::new();
    for caller in 0..4 {
        let producer = Arc::clone(&producer);
        callers.push(tokio::spawn(async move {
            for i in 0..SENDS {
                producer
                    .send_one(message(&format!("{caller} {i}"))?)
                    .await?;
            }
            anyhow::Ok(())
        }));
    }
    for caller in callers {
        caller.await??;
    }
    Arc::into_inner(producer)
        .context("a caller is left")?
        .shutdown()
        .await;
    let mut got = texts(&poll_all(target, client, topic, 0).await?);
    got.sort_unstable();
    got.dedup();
    ensure!(
        got.len() == 4 * SENDS,
        "{} of {} messages",
        got.len(),
        4 * SENDS
    );
    Ok(())
}
