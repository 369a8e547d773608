// Package riverclient is the program with River's client, beside which pgtaskd is measured.
package riverclient
