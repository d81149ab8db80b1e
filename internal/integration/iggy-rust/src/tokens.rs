//! Access tokens.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::target::Target;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.client().await?;
    let name = &target.name;
    let hour = IggyExpiry::ExpireDuration(IggyDuration::new(Duration::from_secs(3600)));
    let raw = client
        .create_personal_access_token(name, hour)
        .await
        .context("create")?;
    let other = format!("{name}-2");
    client
        .create_personal_access_token(&other, IggyExpiry::NeverExpire)
        .await?;
    let twice = client.create_personal_access_token(name, hour).await;
    target.refused(
        twice,
        IggyError::PersonalAccessTokenAlreadyExists(name.clone(), 0),
    )?;

    let all = client.get_personal_access_tokens().await?;
    let find = |name: &str| all.iter().find(|token| token.name == name);
    let expires = find(name).context("the token is not listed")?.expiry_at;
    let expires = expires.context("no expiry")?;
    ensure!(expires.as_micros() > IggyTimestamp::now().as_micros());
    let never = find(&other).context("the second is not listed")?.expiry_at;
    ensure!(never.is_none(), "expiry: {never:?}");

    login(target, &raw.token).await?;
    for name in [name, &other] {
        client.delete_personal_access_token(name).await?;
    }
    let bearer = IggyClient::from_connection_string(&target.url)?;
    bearer.connect().await?;
    let late = bearer.login_with_personal_access_token(&raw.token).await;
    ensure!(late.is_err(), "a token that was removed logs in");
    client.shutdown().await?;
    Ok(())
}

/// A token logs in by a call, and from a connection string where that logs in at all.
async fn login(target: &Target, token: &str) -> Result<()> {
    let client = target.client().await?;
    let identity = client
        .login_with_personal_access_token(token)
        .await
        .context("login with a token")?;
    ensure!(identity.user_id == 0, "user {}", identity.user_id);
    client.get_streams().await?;
    client.shutdown().await?;
    if !target.over_http() {
        let bearer = target.with_login(token)?.client().await?;
        bearer
            .get_streams()
            .await
            .context("with a token in the url")?;
        bearer.shutdown().await?;
    }
    Ok(())
}
