package runnel

// InboxBatches sets how many batches wait in front of a task.
func InboxBatches(n int) Option { return option(func(c *config) { c.inbox = n }) }

// Unfused gives every stage a task of its own.
func Unfused() Option { return option(func(c *config) { c.unfused = true }) }
