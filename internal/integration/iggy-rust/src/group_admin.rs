//! What an administrator does with groups.

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::target::Target;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.with_topic(3).await?;
    let (stream, topic) = (target.stream()?, target.topic()?);
    let id = Identifier::named("readers")?;
    ensure!(
        client
            .get_consumer_group(&stream, &topic, &id)
            .await?
            .is_none()
    );
    let made = client
        .create_consumer_group(&stream, &topic, "readers")
        .await
        .context("create")?;
    ensure!(
        made.name == "readers" && made.partitions_count == 3,
        "{made:?}"
    );
    ensure!(
        made.members_count == 0 && made.members.is_empty(),
        "{made:?}"
    );
    let again = client
        .create_consumer_group(&stream, &topic, "readers")
        .await;
    target.refused(
        again,
        IggyError::ConsumerGroupNameAlreadyExists("readers".into(), topic.clone()),
    )?;
    client
        .create_consumer_group(&stream, &topic, "others")
        .await?;
    let all = client.get_consumer_groups(&stream, &topic).await?;
    ensure!(all.len() == 2, "{all:?}");
    for id in [id.clone(), Identifier::numeric(made.id)?] {
        let found = client.get_consumer_group(&stream, &topic, &id).await?;
        ensure!(found.context("no group")?.id == made.id);
    }
    if !target.over_http() {
        membership(&client, &stream, &topic, &id).await?;
    }
    client
        .delete_consumer_group(&stream, &topic, &id)
        .await
        .context("delete")?;
    ensure!(
        client
            .get_consumer_group(&stream, &topic, &id)
            .await?
            .is_none()
    );
    let again = client.delete_consumer_group(&stream, &topic, &id).await;
    target.refused(
        again,
        IggyError::ConsumerGroupIdNotFound(id.clone(), topic.clone()),
    )?;
    client.delete_stream(&stream).await?;
    client.shutdown().await?;
    Ok(())
}

/// The only member has every partition.
async fn membership(
    client: &IggyClient,
    stream: &Identifier,
    topic: &Identifier,
    id: &Identifier,
) -> Result<()> {
    let sync = || client.sync_consumer_group(stream, topic, id);
    ensure!(sync().await?.is_none(), "a member before it joined");
    client
        .join_consumer_group(stream, topic, id)
        .await
        .context("join")?;
    let assigned = sync().await?.context("no member after it joined")?;
    let mut partitions = assigned.partitions;
    partitions.sort_unstable();
    ensure!(partitions == [0, 1, 2], "{partitions:?}");
    let group = client.get_consumer_group(stream, topic, id).await?;
    let group = group.context("no group")?;
    ensure!(group.members_count == 1, "{group:?}");
    ensure!(group.members[0].partitions_count == 3, "{group:?}");
    let me = client.get_me().await?;
    ensure!(me.consumer_groups_count == 1, "{me:?}");
    client
        .leave_consumer_group(stream, topic, id)
        .await
        .context("leave")?;
    ensure!(sync().await?.is_none(), "a member after it left");
    Ok(())
}
