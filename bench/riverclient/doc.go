// Package riverclient is River's client as a program; bench compares pgtaskd with it.
package riverclient
