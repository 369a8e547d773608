//go:build !slow

package work

// thorough: a few cases of the longest tables are tried; `make thorough` tries all.
const thorough = false
