package work

import (
	"context"

	"pgtaskd/human"
)

// change takes up settings that have changed.
func (l *loop) change(context.Context) error {
	latest := l.target.Changes.Latest()
	if latest == nil || latest == l.live.Load() {
		return nil
	}
	l.runs.Lanes.Slots.Resize(latest.Run)
	l.live.Store(latest)
	l.leader.walk.Restart()
	l.log.Info().Int("run", latest.Run).Str("sleep", human.Duration(latest.Sleep)).
		Str("grace", human.Duration(latest.Grace)).Str("idle", human.Duration(latest.Idle)).
		Int64("output_limit", latest.OutputLimit).Msg("settings changed")
	return nil
}
