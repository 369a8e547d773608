// Package top shows what the page shows to those who have a terminal only: jobs by trouble, what
// runs, errors, and the heads of targets. It reads by the page's own readings and acts by package
// edit.
//
// Once prints all and ends. Run draws on a terminal until the user quits. One goroutine owns the
// window: it draws, and handles keys. It starts others to read and to act, which report to it by
// channels; of reading there is one at a time.
package top
