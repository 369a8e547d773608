//go:build !slow

package model

// thorough: large cases are checked too.
const thorough = false
