//! Users: what an administrator does with them, and what they may do.

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::target::Target;

pub async fn run(target: &Target) -> Result<()> {
    let admin = target.client().await?;
    let name = target.name.clone();
    let made = admin
        .create_user(
            &name,
            "secret",
            UserStatus::Active,
            None,
            &UserCreateOptions::default(),
        )
        .await
        .context("create")?;
    ensure!(made.username == name && made.status == UserStatus::Active);
    ensure!(made.permissions.is_none());
    let again = admin
        .create_user(
            &name,
            "secret",
            UserStatus::Active,
            None,
            &UserCreateOptions::default(),
        )
        .await;
    target.refused(again, IggyError::UserAlreadyExists)?;
    let id = Identifier::named(&name)?;

    rights(target, &admin, &id).await?;
    password(target, &admin, &id).await?;
    changes(target, &admin, made.id).await?;

    let number = Identifier::numeric(made.id)?;
    admin.delete_user(&number).await.context("delete")?;
    ensure!(admin.get_user(&number).await?.is_none());
    let root = admin.delete_user(&Identifier::numeric(0)?).await;
    ensure!(root.is_err(), "the root user is gone");
    admin.shutdown().await?;
    Ok(())
}

/// What a user may not do it may do once it has the right.
async fn rights(target: &Target, admin: &IggyClient, id: &Identifier) -> Result<()> {
    let own = target.with_login(&format!("{}:secret", target.name))?;
    let user = own.client().await.context("login of the new user")?;
    let stream = || async {
        user.create_stream(&target.name, &StreamCreateOptions::default())
            .await
    };
    target.refused(stream().await, IggyError::Unauthorized)?;
    let permissions = Permissions {
        global: GlobalPermissions {
            manage_streams: true,
            ..Default::default()
        },
        streams: None,
    };
    admin
        .update_permissions(id, Some(permissions.clone()))
        .await
        .context("update permissions")?;
    let stored = admin.get_user(id).await?.context("no user")?.permissions;
    ensure!(stored == Some(permissions), "permissions: {stored:?}");
    stream().await.context("with the right to make streams")?;
    target.refused(user.get_users().await, IggyError::Unauthorized)?;
    user.delete_stream(&target.stream()?).await?;
    admin.update_permissions(id, None).await?;
    target.refused(stream().await, IggyError::Unauthorized)?;
    user.shutdown().await?;
    Ok(())
}

async fn password(target: &Target, admin: &IggyClient, id: &Identifier) -> Result<()> {
    admin
        .change_password(id, "secret", "changed")
        .await
        .context("change password")?;
    let old = target.with_login(&format!("{}:secret", target.name))?;
    ensure!(old.client().await.is_err(), "the old password logs in");
    let new = target.with_login(&format!("{}:changed", target.name))?;
    new.client().await?.shutdown().await?;
    Ok(())
}

/// Name and status of a user.
async fn changes(target: &Target, admin: &IggyClient, number: u32) -> Result<()> {
    let renamed = format!("{}-2", target.name);
    let options = UserUpdateOptions {
        username: Some(renamed.clone()),
        status: Some(UserStatus::Inactive),
        ..Default::default()
    };
    let id = Identifier::named(&target.name)?;
    admin.update_user(&id, &options).await.context("update")?;
    ensure!(admin.get_user(&id).await?.is_none(), "the old name is left");
    let user = admin
        .get_user(&Identifier::named(&renamed)?)
        .await?
        .context("no user of the new name")?;
    ensure!(user.id == number && user.status == UserStatus::Inactive);
    let inactive = target.with_login(&format!("{renamed}:changed"))?;
    ensure!(inactive.client().await.is_err(), "an inactive user logs in");
    let all = admin.get_users().await?;
    ensure!(all.iter().any(|u| u.username == renamed), "users: {all:?}");
    ensure!(all.iter().any(|u| u.id == 0), "the root user is missing");
    Ok(())
}
