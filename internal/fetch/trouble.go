package fetch

import (
	"errors"
	"net"
	"net/http"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// troubleOf says why a host is to be slowed down that answered a request with a status, or with none for an error. A connection that
// breaks is no trouble of the host: that says nothing about its load.
func troubleOf(status int, err error) politeness.Trouble {
	var timeout net.Error
	switch {
	case status == http.StatusTooManyRequests:
		return politeness.TroubleBusy
	case status == http.StatusServiceUnavailable:
		return politeness.TroubleUnavailable
	case status == 0 && errors.As(err, &timeout) && timeout.Timeout():
		return politeness.TroubleTimeOut
	}
	return ""
}
