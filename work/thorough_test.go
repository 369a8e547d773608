//go:build slow

package work

// thorough: all cases of the longest tables are tried.
const thorough = true
