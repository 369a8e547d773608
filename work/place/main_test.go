package place

import (
	"testing"

	"pgtaskd/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }
