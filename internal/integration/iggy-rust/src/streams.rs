//! Streams.

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::target::Target;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.client().await?;
    let name = &target.name;
    let id = target.stream()?;
    ensure!(client.get_stream(&id).await?.is_none());
    let default = StreamCreateOptions::default();
    let made = client
        .create_stream(name, &default)
        .await
        .context("create")?;
    ensure!(&made.name == name && made.topics_count == 0, "{made:?}");
    let again = client.create_stream(name, &default).await;
    target.refused(again, IggyError::StreamNameAlreadyExists(name.clone()))?;
    let mut odd = StreamCreateOptions::default();
    odd.raw.insert("no_such_key".into(), "1".into());
    let refused = client.create_stream("odd", &odd).await;
    target.refused(refused, IggyError::UnsupportedOptionKey(String::new()))?;

    let number = Identifier::numeric(made.id)?;
    let same = client.get_stream(&number).await?.context("not by number")?;
    ensure!(&same.name == name && same.created_at == made.created_at);
    let all = client.get_streams().await?;
    ensure!(all.iter().any(|s| s.id == made.id), "not listed: {all:?}");

    let renamed = format!("{name}-2");
    let options = StreamUpdateOptions {
        name: Some(renamed.clone()),
        ..Default::default()
    };
    client
        .update_stream(&id, &options)
        .await
        .context("rename")?;
    ensure!(
        client.get_stream(&id).await?.is_none(),
        "the old name is left"
    );
    let renamed = Identifier::named(&renamed)?;
    let found = client.get_stream(&renamed).await?.context("not renamed")?;
    ensure!(found.id == made.id);

    client.delete_stream(&number).await.context("delete")?;
    ensure!(client.get_stream(&renamed).await?.is_none());
    target.refused(
        client.delete_stream(&renamed).await,
        IggyError::StreamIdNotFound(renamed.clone()),
    )?;
    client.shutdown().await?;
    Ok(())
}
