//go:build !race

package smoke

const race = false
