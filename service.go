package main

import (
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"

	"pgtaskd/conf"
)

// tell tells the system's service manager how the program is, where one has started it. It does
// nothing else that could be missed.
func tell(state string) { _, _ = sd.SdNotify(false, state) }

// watched has the supervisor show the service manager that it is alive, where that watches for it.
func watched(options *conf.Options) (stop func()) {
	every, err := sd.SdWatchdogEnabled(false)
	if err != nil || every <= 0 {
		return func() {}
	}
	ticker := time.NewTicker(every / 3)
	options.Tick = ticker.C
	options.Ticked = func() { tell(sd.SdNotifyWatchdog) }
	return ticker.Stop
}
