package work

import (
	"testing"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// TestARemoteRunIsCutOff at the messages that matter. Its effects come once, or never if it must not
// run again.
func TestARemoteRunIsCutOff(t *testing.T) {
	t.Parallel()
	other := servertest.New(t, server.Options{})
	for name, c := range map[string]struct {
		here        bool
		at          func(*spoken) bool
		does        func() proxy.Verdict
		again, once string // with and without rerun: as in ends
	}{
		"before the fence": {false, fenceBegins, func() proxy.Verdict { return proxy.Cut }, "DONE 1 0 1", "DONE 1 0 1"},
		"after the fence":  {false, fenceEnds, func() proxy.Verdict { return proxy.PassThenCut }, "DONE 1 0 1", "DONE 1 0 1"},
		"before PREPARE":   {true, prepareBegins, func() proxy.Verdict { return proxy.Cut }, "DONE 2 1 1", "FAIL 08006 1 1 0"},
		"after PREPARE":    {true, prepareEnds, func() proxy.Verdict { return proxy.PassThenCut }, "DONE 2 1 1", "FAIL 08006 1 1 0"},
		"before COMMIT":    {false, commitBegins, func() proxy.Verdict { return proxy.Cut }, "DONE 2 1 1", "FAIL 08006 1 1 0"},
		"after COMMIT":     {false, commitEnds, func() proxy.Verdict { return proxy.PassThenCut }, "DONE 1 0 1", "DONE 1 0 1"},
	} {
		for rerun, want := range map[bool]string{true: c.again, false: c.once} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := goAbroad(t, other)
				s.becomes(s.add("input, remote", writes, s.remote), "DONE") // all connections are open
				tap := s.there
				if c.here {
					tap = s.here
				}
				met := tap.once(c.at, c.does)
				id := s.add("input, remote, rerun", writes, s.remote, rerun)
				s.wait(met)
				s.ends(id, want)
				if output := s.row(id, "output, xact, xact_at, atomic"); want[:4] == "DONE" && output != `{"output":"INSERT 0 1","xact":null,"xact_at":null,"atomic":true}` {
					t.Error(output)
				}
			})
		}
	}
}

// TestARemoteWhoseFenceFails: the run is rolled back.
func TestARemoteWhoseFenceFails(t *testing.T) {
	t.Parallel()
	other := servertest.New(t, server.Options{})
	for rerun, want := range map[bool]string{true: "DONE 1 0 1", false: "FAIL 08006 1 0 0"} {
		s := goAbroad(t, other)
		s.becomes(s.add("input, remote", writes, s.remote), "DONE")
		times := make(chan struct{}, 100)
		s.there.on(func(w *spoken) (v proxy.Verdict) {
			if fenceBegins(w) {
				times <- struct{}{}
				v = proxy.Cut
			}
			return v
		})
		id := s.add("input, remote, rerun", writes, s.remote, rerun)
		s.until("the fence and its second try", func() bool { return len(times) >= 2 })
		s.until("the run to be rolled back", func() bool { return s.state(id) != "WORK" })
		if n := s.effects(id); n != "0" {
			t.Error(n, "effects")
		}
		s.there.on(nil)
		s.ends(id, want)
	}
}
