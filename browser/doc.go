// Package browser has tests that look at the page in Chromium, as people do. It is a module of its
// own, so that the program does not depend on the driver.
package browser
