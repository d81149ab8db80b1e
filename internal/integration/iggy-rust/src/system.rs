//! What a server says of itself and its clients.

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::check::messages;
use crate::target::Target;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.with_topic(2).await?;
    client.ping().await.context("ping")?;
    roster(&client).await?;
    stats(target, &client).await?;
    clients(target, &client).await?;
    options(&client).await?;
    let snapshot = client
        .snapshot(SnapshotCompression::Stored, vec![SystemSnapshotType::All])
        .await
        .context("snapshot")?;
    ensure!(snapshot.0.starts_with(b"PK"), "a snapshot is no archive");
    client.delete_stream(&target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

async fn roster(client: &IggyClient) -> Result<()> {
    let cluster = client.get_cluster_metadata().await.context("roster")?;
    ensure!(cluster.nodes.len() == 1, "nodes: {:?}", cluster.nodes);
    let node = &cluster.nodes[0];
    ensure!(node.role == ClusterNodeRole::Leader, "{node:?}");
    ensure!(node.status == ClusterNodeStatus::Healthy, "{node:?}");
    Ok(())
}

async fn stats(target: &Target, client: &IggyClient) -> Result<()> {
    let before = client.get_stats().await.context("stats")?;
    ensure!(
        before.streams_count >= 1,
        "streams: {}",
        before.streams_count
    );
    ensure!(before.partitions_count >= 2, "{}", before.partitions_count);
    client
        .send_messages(
            &target.stream()?,
            &target.topic()?,
            &Partitioning::partition_id(1),
            &mut messages("stats", 10)?,
        )
        .await?;
    let after = client.get_stats().await?;
    ensure!(
        after.messages_count >= before.messages_count + 10,
        "messages before and after: {} and {}",
        before.messages_count,
        after.messages_count
    );
    ensure!(after.messages_size_bytes > before.messages_size_bytes);
    ensure!(after.process_id > 0 && !after.iggy_server_version.is_empty());
    Ok(())
}

async fn clients(target: &Target, client: &IggyClient) -> Result<()> {
    let all = client.get_clients().await.context("clients")?;
    if target.over_http() {
        return target.refused(client.get_me().await, IggyError::FeatureUnavailable);
    }
    let me = client.get_me().await.context("me")?;
    ensure!(me.user_id == Some(0), "me: {me:?}");
    ensure!(
        all.iter().any(|other| other.client_id == me.client_id),
        "client {} is none of {all:?}",
        me.client_id
    );
    let same = client
        .get_client(me.client_id)
        .await?
        .context("no client")?;
    ensure!(same.address == me.address && same.transport == me.transport);
    ensure!(client.get_client(u32::MAX).await?.is_none());
    Ok(())
}

async fn options(client: &IggyClient) -> Result<()> {
    let topic = client.describe_options(OptionsScope::Topic).await?;
    let expiry = topic
        .iter()
        .find(|option| option.key == topic_option_keys::MESSAGE_EXPIRY)
        .context("topics have no expiry")?;
    ensure!(expiry.updatable && expiry.resettable, "{expiry:?}");
    ensure!(expiry.kind == HeaderKind::Uint64, "{expiry:?}");
    let stream = client.describe_options(OptionsScope::Stream).await?;
    ensure!(stream.iter().any(|option| option.key == "name"));
    let user = client.describe_options(OptionsScope::User).await?;
    ensure!(user.iter().any(|option| option.key == "status"));
    Ok(())
}
