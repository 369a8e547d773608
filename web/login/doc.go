// Package login tells who has sent a request, and lets nobody in who may not be.
package login
