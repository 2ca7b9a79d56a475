package worker

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestProfiled(t *testing.T) {
	for _, c := range []struct {
		setting, ip string
		want        bool
	}{
		{profilesOff, "127.0.0.1", false}, {profilesOn, "0.0.0.0", true}, {profilesLoopback, "127.0.0.1", true}, {profilesLoopback, "::1", true},
		{profilesLoopback, "0.0.0.0", false}, {profilesLoopback, "::", false}, {profilesLoopback, "192.0.2.1", false},
	} {
		if got := profiled(c.setting, &net.TCPAddr{IP: net.ParseIP(c.ip)}); got != c.want {
			t.Errorf("%s on %s: %t", c.setting, c.ip, got)
		}
	}
}

func TestProfilesAreBrief(t *testing.T) {
	serve := limitProfiles(func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(http.StatusOK) })
	for query, want := range map[string]int{"": 200, "?seconds=60": 200, "?seconds=61": 400, "?seconds=-1": 400, "?seconds=1e9": 400} {
		out := httptest.NewRecorder()
		serve(out, httptest.NewRequest(http.MethodGet, "/debug/pprof/profile"+query, nil))
		if out.Code != want {
			t.Errorf("%q: %d", query, out.Code)
		}
	}
}
