//go:build !slow

package model

// thorough: check large cases, too.
const thorough = false
