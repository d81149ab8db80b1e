package broker

// HoldHashing makes passwords wait to be hashed until the function is called that it returns.
func (b *Broker) HoldHashing() (release func()) {
	for range cap(b.hashing) {
		b.hashing <- struct{}{}
	}
	return func() {
		for range cap(b.hashing) {
			<-b.hashing
		}
	}
}

// Waiters is the number of reads that are told what happens to partitions.
func (b *Broker) Waiters() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, s := range b.streams.all() {
		for _, t := range s.topics.all() {
			for _, p := range t.partitions {
				n += len(p.waiters.all)
			}
		}
	}
	return n
}
