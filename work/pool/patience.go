package pool

import (
	"maps"
	"sync"
	"time"

	"pgtaskd/work/lane"
)

// patience is how long to wait with tasks whose server does not take connections: for each remote 1
// s, doubling, at most a minute. The target's own database ("") is not waited for so long, as its
// loop sees to it that only few tasks try.
type patience struct {
	mu    sync.Mutex
	delay map[string]time.Duration
	since map[string]time.Time
}

func (p *patience) fail(remote string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	remote = lane.Brief(remote)
	if len(p.since) >= patienceMost {
		maps.DeleteFunc(p.since, func(_ string, since time.Time) bool { return time.Since(since) > 2*patienceLong })
		maps.DeleteFunc(p.delay, func(remote string, _ time.Duration) bool { return p.since[remote].IsZero() })
	}
	d := p.delay[remote]
	if time.Since(p.since[remote]) < d/2 { // one of many that failed together
		return d
	}
	most := patienceLong
	if remote == "" {
		most = shortPause
	}
	d = min(max(2*d, time.Second), most)
	p.delay[remote], p.since[remote] = d, time.Now()
	return d
}

// patienceMost is how many remotes are known that old ones among them are looked for.
const (
	patienceLong = time.Minute
	patienceMost = 1000
)

func (p *patience) succeed(remote string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	remote = lane.Brief(remote)
	delete(p.delay, remote)
	delete(p.since, remote)
}
