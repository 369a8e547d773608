package browser

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"pgtaskd/server"
	"pgtaskd/server/programtest"
)

// Written by TestMain before any test runs.
var (
	pgtaskd  string          // path of the program
	postgres *server.Server  // shared by all tests
	chromium context.Context // of the one Chromium; each page is a tab with cookies of its own
)

func TestMain(m *testing.M) {
	programtest.Main(4, false, settings, func(ctx context.Context, s programtest.Stand) (code int, err error) {
		pgtaskd, postgres = s.Program, s.Postgres
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(s.Folder+"/chromium"),
			chromedp.Flag("host-resolver-rules", "MAP "+elsewhere+" 127.0.0.1"))
		if path := os.Getenv("CHROMIUM"); path != "" {
			options = append(options, chromedp.ExecPath(path))
		}
		allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
		defer end()
		browser, endBrowser := chromedp.NewContext(allocator)
		defer endBrowser()
		if err := chromedp.Do(browser); err != nil {
			return 0, fmt.Errorf("cannot start Chromium: %w", err)
		}
		chromium = browser
		return m.Run(), nil
	})
}

// elsewhere is a name that is none of a loopback address for Chromium, and leads here.
const elsewhere = "jobs.test"

// settings of the server: fast, and without durability beyond the process.
var settings = map[string]string{"fsync": "off", "full_page_writes": "off", "max_connections": "200", "timezone": "UTC"}
