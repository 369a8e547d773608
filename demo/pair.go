package demo

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"pgtaskd/web"
)

// pair is two controllers: one leads, the other stands by and takes over when the leader is killed.
// Its fields belong to the goroutine that called Run, but anybody may ask for a kill.
type pair struct {
	begin   func(name string, first bool) *controller
	site    *web.Site // shows the table as the first of the controllers sees it
	out     io.Writer
	asked   chan struct{} // somebody wants the leader to be killed
	alive   []*controller
	started int       // controllers so far
	killed  time.Time // when the leader was; zero: nobody has to take over
}

func newPair(begin func(name string, first bool) *controller, site *web.Site, out io.Writer) *pair {
	return &pair{begin: begin, site: site, out: out, asked: make(chan struct{}, 1)}
}

// add starts another controller.
func (p *pair) add() *controller {
	p.started++
	c := p.begin("controller "+strconv.Itoa(p.started), p.started == 1)
	if p.alive = append(p.alive, c); len(p.alive) == 1 {
		p.site.Show(c.shown)
	}
	return c
}

// ask asks for a kill. Any goroutine may call it.
func (p *pair) ask() {
	select {
	case p.asked <- struct{}{}:
	default: // somebody else has asked just now
	}
}

// kill ends the leader.
func (p *pair) kill() {
	at := slices.IndexFunc(p.alive, (*controller).leads)
	if at < 0 || len(p.alive) == 1 {
		fmt.Fprintln(p.out, "Nobody is killed: no controller of the demo leads while another stands by.")
		return
	}
	p.killed = time.Now()
	leader := p.alive[at]
	p.alive = slices.Delete(p.alive, at, at+1)
	leader.kill()
	p.site.Show(p.alive[0].shown)
}

// tend starts a new controller to stand by when the other one has taken over.
func (p *pair) tend() {
	if p.killed.IsZero() || !p.alive[0].leads() {
		return
	}
	fmt.Fprintf(p.out, "The leader was killed; %s leads after %.1f s.\n", p.alive[0].name, time.Since(p.killed).Seconds())
	p.killed = time.Time{}
	p.add()
}

// drain asks the controllers to end.
func (p *pair) drain() {
	for _, c := range p.alive {
		c.drain()
	}
}

// ended reports whether all have ended.
func (p *pair) ended() bool {
	return !slices.ContainsFunc(p.alive, func(c *controller) bool {
		select {
		case <-c.done:
			return false
		default:
			return true
		}
	})
}

// end drains the controllers and waits for their end.
func (p *pair) end() {
	p.drain()
	for _, c := range p.alive {
		c.end()
	}
}
