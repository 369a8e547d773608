package page

import "embed"

// Static has the stylesheet and the script, below static/.
//
//go:embed static
var Static embed.FS
