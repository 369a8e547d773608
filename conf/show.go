package conf

import (
	"slices"

	"pgtaskd/work"
)

// listen has the metrics served at that address.
func (s *supervisor) listen(address string) error {
	if s.options.Watch == nil {
		return nil
	}
	return s.options.Watch.Listen(address)
}

// show has the targets shown that are wanted. Those that end with the program are shown to the
// last.
func (s *supervisor) show(targets []work.Target) {
	if s.options.Watch == nil || s.ending {
		return
	}
	shown := slices.Clone(targets)
	for i := range shown {
		shown[i].Stats = s.slots[identity(shown[i])].stats
	}
	s.options.Watch.Show(shown)
}
