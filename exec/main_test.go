package exec

import (
	"testing"

	"pgtask/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }
